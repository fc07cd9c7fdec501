import { markForwarded, mayHaveBody } from "./answers.ts";
import { askOrigin, clientFields, contentLength, forwarded, stream } from "./ask-origin.ts";
import { fillBeside, type ReadBody } from "./fill.ts";
import type { FlightOutcome } from "./flights.ts";
import type { Miss, Passage } from "./passage.ts";
import { mayStore, type NotStorableBecause } from "./rules/may-store.ts";
import type { StoreAsk } from "./rules/read-request.ts";
import type { Stamp, StoredHead, StoredResponse } from "./rules/stored-response.ts";
import { collectTags, TAG_FIELDS } from "./rules/tags.ts";
import { EVERYTHING_PURGE_KEY, tagPurgeKey } from "./rules/target.ts";

/** Fetches, answers, and keeps the answer if it may be kept. With a flight key, others may wait for it meanwhile. */
export async function fetchAndKeep(
  passage: Passage,
  storeAsk: StoreAsk,
  miss: Miss,
  flightKey: string | null,
): Promise<Response> {
  const { ports, flights, behind } = passage;
  const flight = flightKey === null ? null : flights.takeOff(flightKey);
  const land = (outcome: FlightOutcome) => flight?.land(outcome, ports.clock.now());
  if (flight) behind.run(flight.outcome);
  try {
    const stamp = ports.purges.stamp(); // what was held before the fetch began (R1)
    const fetchedAt = ports.clock.now();
    const asked = await askOrigin(passage, true, storeAsk.cookie);
    if (asked.kind !== "answered") {
      land({ kind: "failed" });
      return asked.response;
    }
    const { response } = asked;
    const verdict = keepable(passage, storeAsk, response, stamp, fetchedAt);
    if (verdict.kind === "pass") {
      // A status that is not kept may be the doing of this one request.
      land({ kind: verdict.because === "status" ? "failed" : "not-shareable" });
      return stream(passage, response, miss, verdict.because);
    }
    return keepBeside(passage, response, verdict, miss, land);
  } catch (bug) {
    land({ kind: "failed" }); // no follower waits for a leader that is no more
    throw bug;
  }
}

/** Streams the answer to the client and keeps a verified copy: the flight lands when the whole body has been read. */
function keepBeside(
  passage: Passage,
  response: Response,
  { head, fields }: Keepable & { kind: "store" },
  miss: Miss,
  land: (outcome: FlightOutcome) => void,
): Response {
  const { ports, site, fills, behind } = passage;
  const hasBody = mayHaveBody(response.status);
  const share = fills.open(ports.clock.now());
  const fill = fillBeside(
    hasBody ? response.body : null,
    hasBody ? contentLength(response) : null,
    site.limits.storeBytes,
    share,
    ports.bodies,
  );
  behind.run(fill.read.then((read) => keep(passage, head, read, land)));
  behind.run(fill.delivered);
  markForwarded(fields, miss.xCache, forwarded(miss, { status: response.status, stored: true, collapsed: false }));
  ports.reporter.report({ kind: "answered", xCache: miss.xCache });
  return new Response(fill.body, { status: response.status, statusText: response.statusText, headers: fields });
}

async function keep(
  { ports }: Passage,
  head: Omit<StoredHead, "bodyBytes">,
  read: ReadBody,
  land: (outcome: FlightOutcome) => void,
): Promise<void> {
  if (read.kind !== "whole") {
    if (read.kind === "cut-off") ports.reporter.report({ kind: "body-cut-off" });
    else ports.reporter.report({ kind: "fill-discarded", because: read.kind });
    return land({ kind: read.kind === "too-large" ? "not-shareable" : "failed" });
  }
  const stored: StoredResponse = { head: { ...head, bodyBytes: read.bytes.byteLength }, body: read.bytes };
  // What the view of now already calls purged goes to those who asked in time, and is not kept (R23).
  const isPurged = ports.purges.check(stored.head, false) === "purged";
  const kept = isPurged ? Promise.resolve() : ports.store.keep(stored);
  if (isPurged) ports.reporter.report({ kind: "fill-discarded", because: "purged" });
  land({ kind: "storable", stored });
  await kept;
}

/** Fields that are made for each answer. */
const TOLD_ANEW = new Set(["age", "content-length"]);

type Keepable =
  /** `fields` are those for the client of this answer; the head keeps its own copy of them. */
  | { readonly kind: "store"; readonly head: Omit<StoredHead, "bodyBytes">; readonly fields: Headers }
  | { readonly kind: "pass"; readonly because: NotStorableBecause | "too-many-tags" | "tag-invalid" | "too-large" };

/** Whether this answer may be kept, and as what. RFC 9111 §3 in `mayStore`; tags and size are our own limits. */
function keepable(
  passage: Passage,
  { identifying, partial, forbidsStoring }: StoreAsk,
  response: Response,
  stamp: Stamp | null,
  fetchedAt: number,
): Keepable {
  const { ask, target, site, ports } = passage;
  const field = (name: string) => response.headers.get(name);
  const receivedAt = ports.clock.now();
  const verdict = mayStore(
    {
      method: ask.method,
      authorized: ask.authorized,
      identifying,
      partialOrConditional: partial,
      forbidsStoring,
    },
    { status: response.status, requestedAt: fetchedAt, receivedAt, field },
    { ttlSeconds: target.route.ttlSeconds, defaultTtlSeconds: target.route.defaultTtlSeconds(response.status) },
  );
  if (verdict.kind === "pass") return verdict;
  if ((contentLength(response) ?? 0) > site.limits.storeBytes) return { kind: "pass", because: "too-large" };
  const tagTexts = TAG_FIELDS.flatMap((name) => field(name) ?? []);
  const tags = collectTags(target.routeTags, tagTexts, site.limits.tags);
  if (tags.kind === "unkeepable") return { kind: "pass", because: tags.because };
  const fields = clientFields(passage, response);
  return {
    kind: "store",
    fields,
    head: {
      key: target.key,
      status: response.status,
      fields: [...fields].filter(([name]) => !TOLD_ANEW.has(name)),
      fetchedAt,
      receivedAt,
      initialAgeMs: verdict.initialAgeMs,
      freshnessSeconds: verdict.freshness.seconds,
      sharedWithAuthorized: verdict.sharedWithAuthorized,
      purgeKeys: [EVERYTHING_PURGE_KEY, ...target.purgeKeys, ...tags.tags.map(tagPurgeKey)],
      stamp,
    },
  };
}
