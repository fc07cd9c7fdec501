import { Agent } from "node:http";
import { expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";

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
