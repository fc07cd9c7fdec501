import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { freePort } from "../../../suite/free-ports.ts";
import { ServerProcess } from "../running-server.ts";

const origin = new ScriptedOrigin(() => Date.now());
let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  await origin.comeUp();
});
afterEach(() => server.stop());
afterAll(async () => {
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

test("of an origin that hangs, three paths wait, and all others are answered without it", {
  timeout: 60_000,
}, async () => {
  const config = join(folder, "tidemark.config.ts");
  const limits = 'limits: { originTimeout: "300ms" }, stale: { ifDisconnected: "1h" }';
  writeFileSync(config, `export default { origin: ${JSON.stringify(origin.url)}, ${limits} };\n`);
  server = new ServerProcess(folder, ["--config", config, "--listen", "127.0.0.1:0", "--workers", "1"], {
    TIDEMARK_HOSTS: "*",
  });
  const address = await server.address();
  const get = async (path: string) => {
    const answer = await fetch(new URL(path, address));
    await answer.text();
    return `${answer.status} ${answer.headers.get("x-cache") ?? answer.headers.get("retry-after")}`;
  };
  origin.reply("/kept", { fields: { "cache-control": "max-age=1" }, body: "kept" });
  await expect.poll(() => get("/kept")).toBe("200 HIT"); // while the log does not answer yet, nothing is stored
  for (const path of ["/kept", "/1", "/2", "/3", "/new"]) origin.reply(path, { hold: "for ever" });
  expect(await Promise.all(["/1", "/2", "/3"].map(get))).toEqual(["504 null", "504 null", "504 null"]);
  const askedBefore = origin.seen.length;
  const answers = await Promise.all(Array.from({ length: 50 }, (_, each) => get(`/new?${each}`)));
  expect(answers).toEqual(answers.map(() => "503 1"));
  expect(origin.seen.length - askedBefore).toBeLessThanOrEqual(1 + answers.length / 10); // a second may have passed
  await expect.poll(() => get("/kept"), { timeout: 10_000 }).toBe("200 STALE");

  origin.reply("/new", { fields: { "cache-control": "max-age=60" }, body: "new" });
  origin.release("for ever");
  await expect.poll(() => get("/new"), { timeout: 10_000 }).toBe("200 HIT");
});

test("of an origin that hangs, three paths wait in all workers together", {
  tags: ["deep"],
  timeout: 60_000,
}, async () => {
  const config = join(folder, "three-workers.config.ts");
  const limits = 'limits: { originTimeout: "300ms" }';
  writeFileSync(config, `export default { origin: ${JSON.stringify(origin.url)}, ${limits} };\n`);
  server = new ServerProcess(folder, ["--config", config, "--listen", "127.0.0.1:0", "--workers", "3"], {
    TIDEMARK_HOSTS: "*",
  });
  const address = await server.address();
  await server.prints(/worker-3 .*accepts/);
  /** On a connection of its own, so that any worker may have it. */
  const get = async (path: string) => {
    const answer = await fetch(new URL(path, address), { headers: { connection: "close" } });
    await answer.text();
    return answer.status;
  };
  for (const path of ["/4", "/5", "/6", "/after"]) origin.reply(path, { hold: "for ever" });
  expect(await Promise.all(["/4", "/5", "/6"].map(get))).toEqual([504, 504, 504]);
  const askedBefore = origin.seen.length;
  const answers = await Promise.all(Array.from({ length: 60 }, (_, each) => get(`/after?${each}`)));
  expect(answers).toEqual(answers.map(() => 503));
  expect(origin.seen.length - askedBefore).toBeLessThanOrEqual(1 + answers.length / 10); // a second may have passed

  origin.reply("/after", { fields: { "cache-control": "no-store" }, body: "back" });
  origin.release("for ever");
  // Until all workers know that it is back. On a busy machine, it may also take longer than its 0.3 s.
  const answered = async () => new Set(await Promise.all(Array.from({ length: 30 }, () => get("/after"))));
  await expect.poll(answered, { timeout: 10_000 }).toEqual(new Set([200]));
});

test("where nobody listens at the first address of an origin, the second one is asked, under the name of the first", {
  tags: ["deep"],
  timeout: 60_000,
}, async () => {
  const config = join(folder, "two-addresses.config.ts");
  const dead = `http://127.0.0.1:${await freePort()}`;
  writeFileSync(config, `export default { origin: { url: ${JSON.stringify([dead, origin.url])} } };\n`);
  server = new ServerProcess(folder, ["--config", config, "--listen", "127.0.0.1:0", "--workers", "1"], {
    TIDEMARK_HOSTS: "*",
  });
  const address = await server.address();
  origin.reply("/two", { body: "the second", fields: { location: `${dead}/next` } });
  const answers = await Promise.all([
    fetch(new URL("/two", address), { redirect: "manual" }),
    fetch(new URL("/two", address), { method: "POST", body: "a whole body", redirect: "manual" }),
  ]);
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(["the second", "the second"]);
  expect(answers[0]!.headers.get("location")).toBe(new URL("/next", address).href);
  const last = origin.seen.filter(({ target }) => target === "/two");
  expect(last.map(({ body }) => body).sort()).toEqual(["", "a whole body"]);
  expect(last.map(({ fields }) => fields.host)).toEqual([new URL(dead).host, new URL(dead).host]);
});
