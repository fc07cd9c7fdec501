import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { freePort } from "../../../suite/free-ports.ts";
import { ServerProcess } from "../running-server.ts";
import { untilOnDisk } from "./pages-on-disk.ts";

const TOKEN = "token-of-the-server-with-damaged-files";
const NEW_LOG = "the purge log counts as a new log, so the server fetches every stored page again";
const HEAD = "log/purge-log.head";
const HOSTS = "log/hosts.json";
const ORIGINS = "pages/origins.json";
const MARK = "pages/tidemark-cache.json";

const origin = new ScriptedOrigin(() => Date.now());
const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
/** The same each time, because it is in the page's key. */
let listen: string;
const path = (name: string) => join(folder, "cache", name);

beforeAll(async () => {
  listen = `127.0.0.1:${await freePort()}`;
  await origin.comeUp();
  origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "page" });
  await serve();
});
afterAll(async () => {
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

/** Serves on the same folder, and asks for the page. Resolves to how it came, what the server printed, and its exit code. */
async function serve() {
  const args = ["--origin", origin.url, "--listen", listen, "--workers", "1", "--cache", "cache"];
  const server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
  try {
    const answer = await fetch(new URL("/page", await server.address()));
    await answer.text();
    await untilOnDisk(join(folder, "cache"), "/page");
    return { xCache: answer.headers.get("x-cache"), printed: server.printed };
  } finally {
    expect(await server.stop()).toBe(0);
  }
}

function inLog(statement: string): void {
  const database = new DatabaseSync(path("log/purge-log.sqlite"));
  database.exec(statement);
  database.close();
}

const cut = (name: string) => writeFileSync(path(name), readFileSync(path(name), "utf8").slice(0, 9));
const put = (name: string, value: unknown) => writeFileSync(path(name), JSON.stringify(value));

/** Each test finds the page on the disk as the one before has left it. */
describe("a server starts on a folder in which another version, or a fault, has left", () => {
  async function startsAnew(harm: () => void): Promise<void> {
    harm();
    const { xCache, printed } = await serve();
    expect(printed).toContain(NEW_LOG);
    expect(printed).not.toMatch(/Error/);
    expect(xCache).toBe("MISS");
  }

  test("leases of another form, and counts all pages as purged", async () => {
    await startsAnew(() => inLog(`UPDATE state SET longest_lease = '{"leases":[1000]}'`));
  });

  test.each<[what: string, harm: () => void]>([
    ["leases that were cut", () => inLog("UPDATE state SET longest_lease = substr(longest_lease, 1, 9)")],
    ["a head of the log that is no number", () => inLog("UPDATE state SET head = 'one'")],
    ["another table of the state", () => inLog("ALTER TABLE state RENAME COLUMN floor TO ground")],
    ["a noted head that was cut", () => cut(HEAD)],
    ["a noted head of wrong types", () => put(HEAD, { logId: 1, seq: "1", sum: null })],
    ["hosts that were cut", () => cut(HOSTS)],
    ["hosts of another form", () => put(HOSTS, { "*": "site" })],
    ["hosts of wrong types", () => put(HOSTS, [["*", [7]]])],
  ])("%s, and counts all pages as purged", { tags: ["deep"] }, (_, harm) => startsAnew(harm));

  test.each<[what: string, harm: () => void]>([
    ["origins that were cut", () => cut(ORIGINS)],
    ["origins of another form", () => put(ORIGINS, { "": "http://127.0.0.1:9" })],
    ["origins of wrong types", () => put(ORIGINS, [["", { url: "http://127.0.0.1:9" }]])],
    ["origins without one", () => put(ORIGINS, [[""]])],
    ["a mark of another form", () => put(MARK, { format: "two" })],
    ["hosts that had no site", () => put(HOSTS, [["*", []]])],
  ])("%s, on which no page depends", { tags: ["deep"] }, async (_, harm) => {
    harm();
    const { xCache, printed } = await serve();
    expect(printed).not.toMatch(/Error|undefined|object Object|are kept/);
    expect(xCache).toBe("HIT");
  });
});
