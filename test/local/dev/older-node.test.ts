import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "vitest";
import { freePort } from "../../suite/free-ports.ts";
import { Dev } from "./dev-process.ts";

let folder: string;
let dev: Dev | undefined;

beforeEach(() => {
  mkdirSync(".tidemark", { recursive: true });
  folder = mkdtempSync(join(".tidemark", "older-node-"));
});

afterEach(async () => {
  dev?.interrupt();
  await dev?.exited;
  rmSync(folder, { recursive: true });
});

test("tidemark dev runs a site with routes on a Node without URLPattern, as Node 22 is", async () => {
  const file = join(folder, "site.ts");
  writeFileSync(
    file,
    `import { defineSite } from "tidemark/worker";
     export default defineSite({ origin: "http://127.0.0.1:9", routes: [{ match: "/admin{/*}?", pass: true }] });`,
  );
  const without = ["--import", "data:text/javascript,delete globalThis.URLPattern", "cli/main.ts", "dev"];
  dev = new Dev(["--config", file, "--port", String(await freePort())], {}, without);
  await dev.says(/is up|everything/);
});
