import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../../packed/installed-package.ts";

const CLI = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));
const PAGE = readFileSync("docs/tools.md", "utf8");

let folder: string;
let printed: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-import-page-"));
  writeFileSync(join(folder, "nginx.conf"), block("file: nginx.conf"));
  ({ stdout: printed } = await run(process.execPath, [CLI, "import", "nginx.conf"], { cwd: folder }));
});

afterAll(() => rmSync(folder, { recursive: true }));

function block(name: string): string {
  const code = new RegExp(`<!-- ${name} -->\n\`\`\`\\w+\n(.*?)\`\`\``, "s").exec(PAGE)?.[1];
  if (code === undefined) throw new Error(`the page has no block ${name}`);
  return code;
}

test("the run on the page prints the text on the page", () => {
  expect(`$ npx tidemark import nginx.conf\n${printed}`).toBe(block("run: tidemark import nginx.conf"));
});

test("it writes the config that the page shows, with the same list behind it", () => {
  const written = readFileSync(join(folder, "tidemark.config.ts"), "utf8");
  const [config, list] = written.split(/(?<=^\}\);\n)\n/m);
  expect(config).toBe(block("written: tidemark.config.ts"));
  expect(list).toContain("// Not carried over:\n");
});
