import { Agent } from "node:http";
import { Miniflare, type Request, Response } from "miniflare";
import { expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";
import { receiptBody } from "../fake-edge.ts";

test("A backend that is itself a worker purges the edge with the runtime's own fetch", { tags: ["gate"] }, async () => {
  const origin = new ScriptedOrigin(() => 0);
  await origin.comeUp();
  const fields = { "cache-control": "max-age=60", "cache-tag": "song:42" };
  origin.reply("/song/42", { fields, body: "v1" }, { fields, body: "v2" });
  const edge = await startEdgeRuntime(
    {
      script: await bundleWorker("local/runtime/virtual-time.worker.ts"),
      variables: { SITE: { origin: origin.url, hosts: [HOST] }, TIDEMARK_TOKEN: TOKEN },
    },
    { port: 0 },
  );
  const backend = await startEdgeRuntime(
    {
      script: await bundleWorker("test/sdk/runtimes/backend.worker.ts"),
      variables: { ENDPOINT: edge.url.origin, TOKEN },
      purgeLog: false,
    },
    { port: 0 },
  );
  const agent = new Agent({ keepAlive: false });
  try {
    const ask = () => exchange(edge.url, agent, { path: "/song/42" });
    await ask();
    expect(await ask()).toMatchObject({ body: "v1", fields: { "x-cache": "HIT" } });
    const answer = await exchange(backend.url, agent, { path: "/" });
    expect(answer).toMatchObject({ body: '{"seq":1}', fields: { "cache-tag": "songs" } });
    expect(await ask()).toMatchObject({ body: "v2", fields: { "x-cache": "MISS" } });
  } finally {
    await backend.stop();
    await edge.stop();
    await origin.goDown();
  }
});

/** A worker with one purger for all requests. The edge answers `/abandoned` never, and others once so many have come. */
async function withSharedPurger(answersAt: number, work: (ask: (tag: string) => Promise<number>) => Promise<void>) {
  const enough = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  let arrived = 0;
  const worker = new Miniflare({
    modules: true,
    script: await bundleWorker("test/sdk/runtimes/shared-purger.worker.ts"),
    compatibilityDate: "2026-01-01",
    async outboundService(request: Request) {
      const { tags } = (await request.json()) as { tags: string[] };
      if (tags.includes("abandoned")) await end.promise;
      arrived += 1;
      if (arrived === answersAt) enough.resolve();
      await Promise.race([enough.promise, end.promise]);
      return Response.json(receiptBody);
    },
  });
  try {
    await work(async (tag) => {
      const answer = await worker.dispatchFetch(`http://localhost/${tag}`);
      await answer.text();
      return answer.status;
    });
  } finally {
    end.resolve();
    await worker.dispose();
  }
}

test("nine requests of a worker purge at once, and none waits for another's purge", async () => {
  await withSharedPurger(9, async (ask) => {
    const statuses = await Promise.all(Array.from({ length: 9 }, (_, at) => ask(`song:${at}`)));
    expect(statuses).toEqual(Array(9).fill(200));
  });
});

test("a worker purges after eight of its requests have ended before their purges", async () => {
  await withSharedPurger(1, async (ask) => {
    for (let at = 0; at < 8; at += 1) expect(await ask("abandoned")).toBe(200);
    expect(await ask("song:1")).toBe(200);
  });
});
