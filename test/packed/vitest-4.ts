/**
 * `npm run smoke:vitest4`: the matchers and the CDN beside the vitest before ours. It installs the packed package in a
 * project of its own, with vitest 4.1 from the registry and what the CDN needs, and runs `test/local/cdn/example.test.ts`
 * there as it is, after the type checker has read it. Not part of the gate.
 */
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { folderWith, installPackage, type RunOptions, run, tool } from "./installed-package.ts";

const VITEST = "~4.1.0";

const { devDependencies: ours } = JSON.parse(await readFile("package.json", "utf8")) as {
  devDependencies: Readonly<Record<"miniflare" | "esbuild" | "@types/node", string>>;
};
const installed = await installPackage();
try {
  const folder = await folderWith(installed, "vitest-4", []);
  const others = (["miniflare", "esbuild", "@types/node"] as const).map((name) => `${name}@${ours[name]}`);
  const at: RunOptions = { cwd: folder };
  await step("npm", ["install", "--save-dev", "--no-audit", "--no-fund", `vitest@${VITEST}`, ...others], at);
  await cp("test/local/cdn/example.test.ts", join(folder, "example.test.mts"));

  const compilerOptions = { module: "nodenext", target: "es2024", lib: ["es2024", "esnext.disposable"] };
  const strict = { strict: true, noEmit: true, skipLibCheck: true, types: ["node"] };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...strict } }),
  );
  const [node, tsc] = tool("tsc");
  await step(node, [tsc, "-p", "."], at);

  const words = await step(node, [join(folder, "node_modules/vitest/vitest.mjs"), "run", "--no-color"], at);
  if (!/RUN +v4\.1\..*Tests +1 passed/s.test(words)) throw new Error("That was not vitest 4.1 with one test.");
} finally {
  await rm(installed.home, { recursive: true });
}

async function step(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { exit, stdout, stderr } = await run(command, args, options);
  console.log(stdout + stderr);
  if (exit !== 0) throw new Error(`${command} ${args.join(" ")}: ${exit}`);
  return stdout;
}
