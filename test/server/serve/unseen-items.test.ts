import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { ServerProcess } from "./running-server.ts";

const TOKEN = "token-of-the-server-of-unseen-items";

const NAMES = ["ant", "bee", "cow", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay"];

/** For so many the nearest are searched; the others are told once the log has listened for an hour. */
const SEARCHED = 3;

const origin = new ScriptedOrigin(() => Date.now());
const folder = mkdtempSync(join(tmpdir(), "tidemark-"));

beforeAll(async () => {
  await origin.comeUp();
  for (const name of NAMES) {
    origin.reply(`/${name}`, {
      fields: { "cache-control": "max-age=3600", "cache-tag": `animal:${name}` },
      body: name,
    });
  }
});
afterAll(async () => {
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

/** What workers do, which tell the ledger of all that they have stored when they end. */
async function withServer<T>(workers: number, work: (address: URL) => Promise<T>): Promise<T> {
  const args = ["--origin", origin.url, "--listen", "127.0.0.1:0", "--workers", String(workers), "--cache", "cache"];
  const server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
  try {
    return await work(await server.address());
  } finally {
    await server.stop();
  }
}

async function purge(
  address: URL,
  tags: readonly string[],
): Promise<{ unseen?: { item: string; nearest?: string }[] }> {
  const answer = await fetch(new URL("/_tidemark/purge", address), {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ tags }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Awaited<ReturnType<typeof purge>>;
}

test("a purge tells of tags that no worker's pages have had, whichever worker has stored them, and after a restart", async () => {
  await withServer(2, async (address) => {
    for (const name of NAMES) {
      await (await fetch(new URL(`/${name}`, address), { headers: { connection: "close" } })).text();
    }
  });
  const [mistaken, right] = await withServer(1, async (address) => [
    await purge(
      address,
      NAMES.map((name) => `animal-${name}`),
    ),
    await purge(
      address,
      NAMES.map((name) => `animal:${name}`),
    ),
  ]);
  expect(mistaken!.unseen).toEqual(
    NAMES.slice(0, SEARCHED).map((name) => ({ item: `tag:animal-${name}`, nearest: `tag:animal:${name}` })),
  );
  expect(right!.unseen).toBeUndefined();
});
