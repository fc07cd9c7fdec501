import { Agent } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import { createPurger, PurgeConflict, PurgeIncomplete, PurgeRejected, tagResponse } from "../../../sdk/index.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../../engine/scenario.ts";

/** Two edges with a purge log each, in front of one origin. */
const origin = new ScriptedOrigin(() => 0);
const agent = new Agent({ keepAlive: false });
let edges: EdgeRuntime[];

beforeAll(async () => {
  await origin.comeUp();
  const script = await bundleWorker("local/runtime/virtual-time.worker.ts");
  const variables = { SITE: { origin: origin.url, hosts: [HOST] }, TIDEMARK_TOKEN: TOKEN };
  edges = await Promise.all([1, 2].map(() => startEdgeRuntime({ script, variables }, { port: 0 })));
});

afterAll(async () => {
  await Promise.all((edges ?? []).map((edge) => edge.stop()));
  await origin.goDown();
  agent.destroy();
});

/** A page with these tags, whose body is always the same. Both edges hold it afterwards. */
async function warm(path: string, ...tags: string[]): Promise<void> {
  const headers = tagResponse(new Headers({ "cache-control": "max-age=600" }), tags);
  origin.reply(path, { fields: Object.fromEntries(headers), body: path });
  for (const edge of edges) {
    await look(edge, path);
    expect(await look(edge, path)).toBe("HIT");
  }
}

async function look(edge: EdgeRuntime, path: string): Promise<string | undefined> {
  return (await exchange(edge.url, agent, { path })).fields["x-cache"];
}

const songs = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name}:${index}`);

test("A batch of 10,001 tags is two purges of the edge, and sent again with its id it purges nothing twice", {
  tags: ["deep"],
}, async () => {
  await using cdn = createPurger({ endpoint: edges[0]!.url, token: TOKEN });
  await warm("/first", "import:0");
  await warm("/last", "import:10000");

  const send = () => cdn.batch((batch) => batch.tags(songs(10_001, "import")), { id: "import" });
  const { receipt } = await send();
  expect([await look(edges[0]!, "/first"), await look(edges[0]!, "/last")]).toEqual(["MISS", "MISS"]);
  const { receipt: again } = await send();

  expect(receipt).toMatchObject({ replayed: false, accepted: { tags: 10_001 }, receipts: [{}, {}] });
  expect(again).toMatchObject({ replayed: true, seq: receipt?.seq, token: receipt?.token });
  expect([await look(edges[0]!, "/first"), await look(edges[0]!, "/last")]).toEqual(["HIT", "HIT"]);
  expect((await cdn.purges()).purges.map(({ id }) => id)).toEqual(["import.2", "import.1"]);
});

test("A batch near the greatest number of bytes is accepted by the edge", { tags: ["deep"] }, async () => {
  await using cdn = createPurger({ endpoint: edges[0]!.url, token: TOKEN, deadlineMs: 60_000 });
  const urls = Array.from({ length: 600 }, (_, index) => `/${index}/${"é".repeat(4_000)}`);

  const receipt = await cdn
    .batch()
    .urls(urls)
    .commit({ reason: "\u0001".repeat(500) });

  expect(receipt).toMatchObject({ accepted: { urls: 600 }, receipts: [{}, {}] });
});

test("A purge of two edges reaches both, and its status is that of both", async () => {
  await using cdn = createPurger({ endpoints: edges.map(({ url }) => url), token: TOKEN });
  await warm("/both", "both");

  const receipt = await cdn.purgeTags("both");

  expect(await Promise.all(edges.map((edge) => look(edge, "/both")))).toEqual(["MISS", "MISS"]);
  expect(new Set(receipt.edges?.map(({ logId }) => logId)).size).toBe(2);
  await expect(cdn.status(receipt)).resolves.toMatchObject({ seq: receipt.seq, items: ["tag:both"] });
});

test("If one of two edges refuses the token, the other has purged, and the same id goes on where it stopped", async () => {
  const [mine, other] = edges.map(({ url }) => url.origin);
  await using wrong = createPurger({ endpoints: [mine!, { endpoint: other!, token: "wrong" }], token: TOKEN });
  await using right = createPurger({ endpoints: [mine!, other!], token: TOKEN });
  await warm("/half", "half");

  const error = await wrong.purgeTags("half", { id: "half" }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(PurgeIncomplete);
  expect(error).toMatchObject({ receipts: [{ endpoint: mine }], failures: [{ endpoint: other }] });
  expect(await Promise.all(edges.map((edge) => look(edge, "/half")))).toEqual(["MISS", "HIT"]);
  const receipt = await right.purge((error as PurgeIncomplete).failures[0]!.request);

  expect(receipt.edges?.map(({ replayed }) => replayed)).toEqual([true, false]);
  expect(await Promise.all(edges.map((edge) => look(edge, "/half")))).toEqual(["HIT", "MISS"]);
});

test("One invalid item in a large batch fails only its own purge", async () => {
  await using cdn = createPurger({ endpoint: edges[0]!.url, token: TOKEN });
  await warm("/good", "mixed:10000");

  const committing = cdn.batch().hosts("elsewhere.test").tags(songs(10_001, "mixed")).commit({ id: "mixed" });
  const error = (await committing.catch((error: unknown) => error)) as PurgeIncomplete;

  expect(error.failures).toMatchObject([{ request: { id: "mixed.1" }, error: { code: "invalid" } }]);
  expect(error.failures[0]!.error).toBeInstanceOf(PurgeRejected);
  expect(error.receipts).toHaveLength(1);
  expect(await look(edges[0]!, "/good")).toBe("MISS");
  await expect(cdn.purgeTags("other", { id: "mixed.2" })).rejects.toThrow(PurgeConflict);
});

test("The edge stores a page with as many tags as tagResponse writes, and not one with more", async () => {
  await warm("/many-tags", ...songs(1_000, "s"));
  const tags = `${songs(1_000, "s").join(",")},more`;
  origin.reply("/too-many-tags", { fields: { "cache-control": "max-age=600", "cache-tag": tags }, body: "v1" });

  expect([await look(edges[0]!, "/too-many-tags"), await look(edges[0]!, "/too-many-tags")]).toEqual(["MISS", "MISS"]);
});
