import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The modules of a deployable worker: `index.js`, and the code of each that it imports by file name. */
export interface BuiltEdge {
  readonly script: string;
  readonly modules: Readonly<Record<string, string>>;
}

/** The worker in a folder that a build has written to. */
export function readBuiltEdge(folder: string): BuiltEdge {
  const names = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const modules = Object.fromEntries(names.filter((name) => name !== "index.js").map((name) => [name, read(name)]));
  return { script: read("index.js"), modules };
}

/** The worker that `npm run build:edge` would build for these rules. Throws what the build says if it fails. */
export function buildEdge(rules: object): BuiltEdge {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-edge-"));
  const [site, config] = [join(folder, "tidemark.config.ts"), join(folder, "tsdown.edge.ts")];
  const lines = [
    'import { defineSite } from "tidemark/worker";',
    `export default defineSite(${JSON.stringify({ origin: "https://origin.example.test", ...rules })});`,
  ];
  const settings = { cwd: resolve("."), outDir: folder, clean: false };
  const configLines = [
    `import { edgeFor } from ${JSON.stringify(resolve("tsdown.edge.ts"))};`,
    `export default { ...edgeFor(${JSON.stringify(site)}), ...${JSON.stringify(settings)} };`,
  ];
  try {
    writeFileSync(site, lines.join("\n"));
    writeFileSync(config, configLines.join("\n"));
    execFileSync("npx", ["tsdown", "--config", config], { stdio: "pipe" });
    return readBuiltEdge(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
