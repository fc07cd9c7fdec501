import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { ServerProcess } from "../server/serve/running-server.ts";
import { type Settling, settled } from "../server/serve/settled-purges.ts";
import { freePort } from "../suite/free-ports.ts";

const MAIN = join(inject("installed").folder, "node_modules/tidemark/dist/package/cli.mjs");

const origin = new ScriptedOrigin(() => Date.now());
/** Not the folder of the package, which other tests copy meanwhile: a socket cannot be copied. */
const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
beforeAll(() => origin.comeUp());
afterAll(async () => {
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

test("tidemark serve needs an origin and nothing else: it serves, stores, purges, is warm after a restart, and stops", {
  timeout: 60_000,
}, async () => {
  const port = await freePort();
  const start = () => {
    const args = ["--origin", origin.url, "--listen", `127.0.0.1:${port}`, "--workers", "2"];
    return new ServerProcess(folder, args, {}, MAIN);
  };
  const ask = async (address: URL, init: RequestInit = {}) => {
    const answer = await fetch(new URL("/page", address), init);
    return { status: answer.status, xCache: answer.headers.get("x-cache"), body: await answer.text() };
  };
  origin.reply("/page", { fields: { "cache-control": "max-age=600" }, body: "v1" });

  const first = start();
  let address = await first.address();
  expect(await ask(address)).toMatchObject({ status: 200, body: "v1" });
  expect(await first.stop()).toBe(0);
  expect(first.printed).not.toContain("Node's own server answers all requests");

  const second = start();
  address = await second.address();
  expect(await ask(address)).toEqual({ status: 200, xCache: "HIT", body: "v1" });
  expect(origin.countOf("/page")).toBe(1);
  // Without hosts only this machine's own names are served.
  const [foreign] = (await once(get(address, { headers: { host: "www.example.test" } }), "response")) as [
    IncomingMessage,
  ];
  expect(foreign.resume().statusCode).toBe(421);
  const [, token] = await second.prints(/token +(\S+)/);
  origin.reply("/page", { fields: { "cache-control": "max-age=600" }, body: "v2" });
  const purge = await ask(address, { method: "PURGE", headers: { authorization: `Bearer ${token}` } });
  expect(purge.status).toBe(200);
  await settled(JSON.parse(purge.body) as Settling);
  expect(await ask(address)).toEqual({ status: 200, xCache: "MISS", body: "v2" });
  expect(await second.stop()).toBe(0);
});

test("tidemark serve --acme says which package it needs, and how to install it", async () => {
  const server = new ServerProcess(folder, ["--acme", "you@example.com", "--hosts", "www.example.com"], {}, MAIN);
  expect(await server.ended()).toBe(2);
  expect(server.printed).toContain("tidemark serve --acme needs packages that are not installed here.");
  expect(server.printed).toMatch(/\n {2}npm install acme-client@5\.4\.\d+\n/);
});
