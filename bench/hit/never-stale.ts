import { setTimeout as wait } from "node:timers/promises";
import type { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { BenchFailure } from "../frame/bench-failure.ts";
import { fieldOf, rawRequest, requestUntilHit } from "../load/raw-request.ts";

/** An edge whose promises are checked while it is measured. */
export interface CheckedEdge {
  readonly name: string;
  readonly url: URL;
  readonly token: string;
}

/** Fails if the edge serves a purged or an expired page. Takes more than a second, because the page really expires. */
export async function assertNeverStale(edge: CheckedEdge, origin: ScriptedOrigin, round: number): Promise<void> {
  await Promise.all([assertPurges(edge, origin, round), assertExpires(edge, origin, round)]);
}

async function assertPurges(edge: CheckedEdge, origin: ScriptedOrigin, round: number): Promise<void> {
  const path = `/purged/${slug(edge)}/${round}`;
  await storePage(edge, origin, path, 3600);
  const purge = await rawRequest(new URL("/_tidemark/purge", edge.url), {
    method: "POST",
    fields: { authorization: `Bearer ${edge.token}`, "content-type": "application/json" },
    body: JSON.stringify({ urls: [path] }),
  });
  if (purge.status !== 200) throw new BenchFailure(`${edge.name} refused a purge: ${purge.status} ${purge.body}`);
  await assertNotServed(edge, path, "a purged");
}

async function assertExpires(edge: CheckedEdge, origin: ScriptedOrigin, round: number): Promise<void> {
  const path = `/expired/${slug(edge)}/${round}`;
  await storePage(edge, origin, path, 1);
  await wait(1100);
  await assertNotServed(edge, path, "an expired");
}

/** Gets a page stored, waits for a hit, because only a stored page can be served wrongly, and then changes the page. */
async function storePage(edge: CheckedEdge, origin: ScriptedOrigin, path: string, maxAge: number): Promise<void> {
  const fields = { "content-type": "text/plain", "cache-control": `public, max-age=${maxAge}` };
  origin.reply(path, { fields, body: "before" });
  await requestUntilHit(edge.name, new URL(path, edge.url));
  origin.reply(path, { fields, body: "after" });
}

async function assertNotServed(edge: CheckedEdge, path: string, kind: string): Promise<void> {
  const answer = await rawRequest(new URL(path, edge.url));
  const xCache = fieldOf(answer, "x-cache");
  if (xCache === "HIT" || answer.body !== "after") {
    throw new BenchFailure(`${edge.name} served ${kind} page: ${path} came with X-Cache ${xCache}, "${answer.body}".`);
  }
}

function slug({ name }: CheckedEdge): string {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}
