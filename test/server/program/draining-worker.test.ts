import { expect, onTestFinished, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import type { ProcessFigures } from "../../../server/machine/process-figures.ts";
import { collectGarbage } from "../../../server/program/collect-garbage.ts";
import { startWorker } from "../../../server/program/edge-program.ts";
import type { WorkerProgram } from "../../../server/program/worker-program.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { until } from "../../suite/until.ts";
import { RawClient } from "../raw-client.ts";
import { startSites } from "../sites/worker-under-test.ts";

test("what nobody holds any more is given back at once", async () => {
  const held = new WeakRef(new Uint8Array(8));
  await new Promise(setImmediate); // until then a new WeakRef holds what it refers to
  collectGarbage();
  expect(held.deref()).toBeUndefined();
});

/** A worker with enough time for its answers. */
const patient: WorkerProgram = {
  startWorker: async (start) => {
    const worker = await startWorker(start);
    const drain = worker.drain.bind(worker);
    worker.drain = () => drain(60_000);
    return worker;
  },
};

test.each([
  { whose: "one site", names: [ONLY_SITE] },
  { whose: "several sites", names: ["shop", "blog"] },
])("a worker with $whose that ends gives its memory back, and finishes its answers", async ({ names }) => {
  const origin = new ScriptedOrigin(() => Date.now());
  await origin.comeUp();
  onTestFinished(() => origin.goDown());
  origin.reply("/page", { fields: { "cache-control": "max-age=3600" }, body: "the page" });
  const rest = { hold: "rest", bytesBeforeHold: 4, framing: "chunked" as const };
  origin.reply("/long", { fields: { "cache-control": "no-store" }, body: "one two", ...rest });
  const siteOf = (name: string) => ({
    name,
    token: `the-token-of-the-${name}-0123456789-abcdef`,
    site: { origin: origin.url, hosts: [`${name}a.test`] },
  });
  const sites = await startSites(patient, names.map(siteOf));
  const memory = async () => ((await sites.worker.survey!()) as ProcessFigures).worker!.memory;
  const ask = async (path: string, name: string) => {
    const client = new RawClient({ host: "127.0.0.1", port: sites.port });
    await client.send(`GET ${path} HTTP/1.1\r\nHost: ${name}a.test\r\n\r\n`);
    return client;
  };

  await Promise.all(names.map((name) => ask("/page", name)));
  await until(async () => (await memory()).entries === names.length);
  const reader = await ask("/long", names[0]!);
  await reader.until((received) => received.includes("one "));
  const stopped = sites.stop();
  expect(await memory()).toMatchObject({ entries: 0, bytes: 0, evictions: 0 });
  origin.release("rest");
  expect(await reader.until((received) => received.endsWith("0\r\n\r\n"))).toContain("two");
  await stopped;
});
