import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "../../cdn/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../cdn/runtime/miniflare.ts";
import { ScriptedOrigin } from "../../cdn/scripted-origin.ts";
import { exchange } from "../engine/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

/** The longest lease: a receipt that settles by the clock would take longer than the test. */
const LEASE_MS = 60_000;

describe("a relay in the Workers runtime (R27)", () => {
  const origin = new ScriptedOrigin(() => Date.now());
  const agent = new Agent({ keepAlive: false });
  const bearer = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const fields = { "cache-control": "max-age=600" };
  let edge: EdgeRuntime;
  const get = (path: string, more = {}) => exchange(edge.url, agent, { path, fields: more });

  async function purge() {
    const request = { method: "POST", path: "/_tidemark/purge", fields: bearer, body: '{"urls":["/song"]}' };
    return JSON.parse((await exchange(edge.url, agent, request)).body);
  }

  beforeAll(async () => {
    await origin.comeUp();
    const purge = { leaseMs: LEASE_MS, push: true, relays: 2 };
    const site = { origin: origin.url, hosts: [HOST], purge };
    const script = await bundleWorker("test/platform/relay.worker.ts");
    edge = await startEdgeRuntime({ script, variables: { SITE: site, TIDEMARK_TOKEN: TOKEN } }, { port: 0 });
  }, 60_000);

  afterAll(async () => {
    await edge.stop();
    await origin.goDown();
  });

  test("passes purges on to its readers, which alone it connects to the log, and confirms them for those", async () => {
    origin.reply("/song", ...["v1", "v2", "v3"].map((body) => ({ fields, body })));
    expect(await get("/song")).toMatchObject({ body: "v1" });
    for (const body of ["v2", "v3"]) {
      const receipt = await purge();
      expect(receipt.maySettleSooner).toBe(true);
      expect(receipt.settlesInMs).toBeGreaterThan(LEASE_MS / 2);
      const record = JSON.parse((await get(`/_tidemark/purges/${receipt.seq}?wait=20000`, bearer)).body);
      expect(record).toMatchObject({ seq: receipt.seq, settled: true });
      expect(await get("/song")).toMatchObject({ body, fields: { "x-cache": "MISS" } });
      expect(await get("/song")).toMatchObject({ body, fields: { "x-cache": "HIT" } });
    }
    const names = JSON.parse((await get("/_connected")).body) as string[];
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !name.startsWith("relay "))).toEqual([]);
  }, 60_000);

  test("lets a purge settle by the clock after it has ended, because nobody can confirm for its readers", async () => {
    await get("/_end-relays");
    origin.reply("/song", { fields, body: "v4" }, { fields, body: "v5" });
    const receipt = await purge();
    expect(receipt.settlesInMs).toBeGreaterThan(LEASE_MS);
    const record = JSON.parse((await get(`/_tidemark/purges/${receipt.seq}?wait=2000`, bearer)).body);
    expect(record).toMatchObject({ seq: receipt.seq, settled: false });
  }, 60_000);
});
