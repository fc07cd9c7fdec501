import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import type { SiteInput } from "../../worker/site/site-input.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export function isSite({ language, code }: { language: string; code: string }): boolean {
  return language === "ts" && code.includes("export default defineSite(");
}

/** The argument of `defineSite` in a site's file, with types stripped and nothing checked. */
export async function evaluateSite(code: string): Promise<SiteInput> {
  const unchecked: Plugin = {
    name: "unchecked",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^tidemark\/worker$/ }, ({ path }) => ({ path, namespace: "unchecked" }));
      onLoad({ filter: /.*/, namespace: "unchecked" }, () => ({
        contents: "export const defineSite = (site) => site",
      }));
    },
  };
  const { outputFiles } = await build({
    stdin: { contents: code, loader: "ts", resolveDir: ROOT },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    plugins: [unchecked],
  });
  const script = Buffer.from(outputFiles[0]!.text).toString("base64");
  const module = (await import(`data:text/javascript;base64,${script}`)) as { default: SiteInput };
  return module.default;
}
