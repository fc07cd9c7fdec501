import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

/** The longest lease: a receipt that settles by the clock would take longer than the test. */
const LEASE_MS = 60_000;
/** Well within `purge.keepViewMs`: a reader that gives up its lease settles a purge as well, without having got it. */
const CONFIRMED_WITHIN_MS = 10_000;
const BEARER = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

describe("a purge in the Workers runtime, over connections to the log (R25, R26)", { timeout: 60_000 }, () => {
  const origin = new ScriptedOrigin(() => Date.now());
  const agent = new Agent({ keepAlive: false });
  let edge: EdgeRuntime;
  const get = (path: string, fields = {}) => exchange(edge.url, agent, { path, fields });

  async function purge() {
    const request = { method: "POST", path: "/_tidemark/purge", fields: BEARER, body: '{"urls":["/song"]}' };
    return JSON.parse((await exchange(edge.url, agent, request)).body);
  }

  function reply(...versions: readonly string[]): void {
    const fields = { "cache-control": "max-age=600" };
    origin.reply("/song", ...versions.map((body) => ({ fields, body })));
  }

  beforeAll(async () => {
    await origin.comeUp();
    const site = { origin: origin.url, hosts: [HOST], purge: { leaseMs: LEASE_MS, push: true } };
    const script = await bundleWorker("test/runtime/pushing.worker.ts");
    edge = await startEdgeRuntime({ script, variables: { SITE: site, TIDEMARK_TOKEN: TOKEN } }, { port: 0 });
  }, 60_000);

  afterAll(async () => {
    await edge.stop();
    await origin.goDown();
  });

  test("is pushed to its readers, and its receipt settles by their confirmations", async () => {
    reply("v1", "v2", "v3");
    expect(await get("/song")).toMatchObject({ body: "v1" });
    for (const body of ["v2", "v3"]) {
      const receipt = await purge();
      expect(receipt.maySettleSooner).toBe(true);
      expect(receipt.settlesInMs).toBeGreaterThan(LEASE_MS / 2);
      const record = JSON.parse(
        (await get(`/_tidemark/purges/${receipt.seq}?wait=${CONFIRMED_WITHIN_MS}`, BEARER)).body,
      );
      expect(record).toMatchObject({ seq: receipt.seq, settled: true });
      expect(await get("/song")).toMatchObject({ body, fields: { "x-cache": "MISS" } });
      expect(await get("/song")).toMatchObject({ body, fields: { "x-cache": "HIT" } });
    }
    const names = JSON.parse((await get("/_connected")).body) as string[];
    expect(names.length).toBeGreaterThan(0);
  });
});
