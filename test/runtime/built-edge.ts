import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The worker that `npm run build:edge` would build for these rules. Throws what the build says if it fails. */
export function buildEdge(rules: object): string {
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
    return readFileSync(join(folder, "index.js"), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
