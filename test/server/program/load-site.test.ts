import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigFileError } from "../../../package/config-file-error.ts";
import { loadSite } from "../../../server/program/load-site.ts";

test.each([
  ["waits for ever", "setInterval(() => {}, 1000); await new Promise(() => {});"],
  ["computes for ever", "for (;;);"],
])("a config that %s is refused, so that a later one can be loaded", async (_, endless) => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const file = join(folder, "tidemark.config.ts");
  writeFileSync(file, `${endless}\nexport default { origin: "http://127.0.0.1:8000", hosts: ["www.example.com"] };\n`);
  const error = await loadSite(file, {}, 1500).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ConfigFileError);
  expect((error as Error).message).toBe(`${file}: the file has not loaded within 1.5 s; it must not wait for anything`);
  rmSync(folder, { recursive: true });
});
