import { Agent } from "node:http";
import { expect, test } from "vitest";
import { bundleWorker } from "../../cdn/runtime/bundle.ts";
import { startEdgeRuntime } from "../../cdn/runtime/miniflare.ts";
import { ScriptedOrigin } from "../../cdn/scripted-origin.ts";
import { exchange } from "../engine/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

/** The longest lease: a receipt that settles by the clock would take longer than the test. */
const LEASE_MS = 60_000;

test("a purge is pushed over a runtime's own calls, and its receipt settles by confirmations (R25, R26)", async () => {
  const origin = new ScriptedOrigin(() => Date.now());
  await origin.comeUp();
  const fields = { "cache-control": "max-age=600" };
  origin.reply("/song", { fields, body: "v1" }, { fields, body: "v2" }, { fields, body: "v3" });
  const site = { origin: origin.url, hosts: [HOST], purge: { leaseMs: LEASE_MS, push: true } };
  const script = await bundleWorker("test/platform/push.worker.ts");
  const edge = await startEdgeRuntime({ script, variables: { SITE: site, TIDEMARK_TOKEN: TOKEN } }, { port: 0 });
  const agent = new Agent({ keepAlive: false });
  const bearer = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const get = (path: string, more = {}) => exchange(edge.url, agent, { path, fields: more });
  try {
    expect(await get("/song")).toMatchObject({ body: "v1" });
    for (const body of ["v2", "v3"]) {
      const purge = { method: "POST", path: "/_tidemark/purge", fields: bearer, body: '{"urls":["/song"]}' };
      const receipt = JSON.parse((await exchange(edge.url, agent, purge)).body);
      expect(receipt.maySettleSooner).toBe(true);
      expect(receipt.settlesInMs).toBeGreaterThan(LEASE_MS / 2);
      const record = JSON.parse((await get(`/_tidemark/purges/${receipt.seq}?wait=20000`, bearer)).body);
      expect(record).toMatchObject({ seq: receipt.seq, settled: true });
      expect(await get("/song")).toMatchObject({ body, fields: { "x-cache": "MISS" } });
      expect(await get("/song")).toMatchObject({ body, fields: { "x-cache": "HIT" } });
    }
  } finally {
    await edge.stop();
    await origin.goDown();
  }
}, 60_000);
