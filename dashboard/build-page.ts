import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { build } from "tsdown";

/** The page as one file, and the policy that lets it run only its own code. */
export interface BuiltPage {
  readonly page: string;
  readonly policy: string;
}

/** Builds the page with script and style inside, so that one answer is enough. */
export async function buildPage(): Promise<BuiltPage> {
  const [html, css, script] = await Promise.all([
    readFile(fileOf("index.html"), "utf8"),
    readFile(fileOf("style.css"), "utf8"),
    bundled("main.ts"),
  ]);
  const style = (await transform(css, { loader: "css", minify: true, target: "chrome120" })).code.trim();
  if (/<\/(script|style)/i.test(script + style)) throw new Error("a script must not end itself");
  const page = html
    .replace(/>\n+</g, "><")
    .replace(/ (viewBox|width|height|rx|d)="(.*?)"/g, " $1='$2'") // as in the icon, so that gzip sees it once
    .replace(/="([\w#-]+)"(?=[ >])/g, "=$1") // HTML §13.1.2.3: a word needs no quotes
    .replace(/<\/?(?:head|body)>|<\/(?:html|option)>/g, "") // HTML §13.1.2.4: these tags may be left out
    .replace(/<\/p>(?=<(?:p|div|form|h2)\b|<\/(?:div|form|section)>)/g, "") // the same
    .replace(/ type=submit\b/g, "") // HTML §4.10.6: the default of a button
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace("<script></script>", () => `<script>${script}</script>`);
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  return { page, policy };
}

/** The page as a module of the worker. */
export function moduleOf({ page, policy }: BuiltPage): string {
  return `/** The page of the dashboard, made from \`dashboard/\` by \`npm run dashboard\`. */
export const PAGE =
  ${JSON.stringify(page)};

/** Its \`Content-Security-Policy\`. */
export const PAGE_POLICY =
  ${JSON.stringify(policy)};
`;
}

/** The module's path in this repository. */
export const PAGE_MODULE = "worker/control/dashboard/dashboard-page.ts";

/** One script. tsdown's minifier leaves less of it than esbuild's. */
async function bundled(name: string): Promise<string> {
  const [bundle] = await build({
    config: false,
    tsconfig: false,
    entry: [fileOf(name)],
    format: "iife",
    platform: "browser",
    target: "es2024",
    inputOptions: {
      treeshake: { propertyReadSideEffects: false },
      optimization: { inlineConst: { mode: "all", pass: 3 } },
    },
    outputOptions: { comments: false },
    minify: true,
    dts: false,
    clean: false,
    write: false,
    report: false,
    logLevel: "silent",
  });
  const [chunk] = bundle!.chunks;
  if (chunk?.type !== "chunk") throw new Error(`${name} was not bundled`);
  return chunk.code.trim();
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
