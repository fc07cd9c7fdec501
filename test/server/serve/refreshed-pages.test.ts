import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { byDepth } from "../../suite/depth.ts";
import { untilOnDisk } from "./disks/pages-on-disk.ts";
import { ServerProcess } from "./running-server.ts";

const TOKEN = "token-of-the-server-of-refreshed-pages";
const PAGES = Array.from({ length: byDepth({ test: 10, gate: 10, all: 20 }) }, (_, index) => `/page-${index}`);

const origin = new ScriptedOrigin(() => Date.now());
const folder = mkdtempSync(join(tmpdir(), "tidemark-"));

beforeAll(async () => {
  await origin.comeUp();
  for (const page of PAGES) origin.reply(page, { fields: { "cache-control": "max-age=3600" }, body: page });
});
afterAll(async () => {
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

test("a page that a purge has refreshed is a hit at every worker as soon as the purge is answered", async () => {
  const args = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", "2", "--cache", "cache"];
  const server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
  try {
    const address = await server.address();
    const ask = async (page: string) => {
      const answer = await fetch(new URL(page, address), { headers: { connection: "close" } });
      await answer.text();
      return answer.headers.get("x-cache");
    };
    for (const page of PAGES) {
      await ask(page);
      await untilOnDisk(join(folder, "cache"), page); // written later, it would replace what the refresh brings
      const answer = await fetch(new URL("/_tidemark/purge", address), {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ urls: [page], refresh: true }),
      });
      expect(await answer.json()).toMatchObject({ refreshed: [{ status: 200 }] });
      await Promise.all(Array.from({ length: 6 }, () => ask(page)));
    }
  } finally {
    await server.stop();
  }
  const asked = PAGES.map((page) => origin.seen.filter(({ target }) => target === page).length);
  expect(asked).toEqual(PAGES.map(() => 2)); // before the purge, and by it
});
