import type { BodyReader, StreamedBody } from "../../ports/bodies.ts";
import { within } from "../../within.ts";
import { reportNotStored } from "../answering/pass-on.ts";
import { fetchKeyOf } from "../collapsing/begin-fetch.ts";
import type { RequestContext } from "../request-context.ts";
import { BodySink } from "./body-sink.ts";
import type { LargeFill } from "./large-fills.ts";
import type { HeadToStore } from "./storage-decision.ts";
import { isOutdated, storeUnlessPurged, tellNobody } from "./store-unless-purged.ts";

/** The copy is given up if the client or the shared tier takes nothing for this long: neither may delay the other. */
const STALLED_MS = 10_000;

/**
 * Streams a large body to the client and, at the pace of the slower of the two, into the shared tier, under a key that
 * nothing refers to. Where the platform reads ahead, the client may be that far behind. The entry that refers to it is
 * stored once the announced length has been counted (docs/http.md#bodies-and-ranges). No request waits for the copy.
 * `null`, without doing anything, if a body that may be stored is already being copied for the same key.
 */
export function copyLargeBody(
  context: RequestContext,
  body: StreamedBody,
  head: HeadToStore,
  lengthBytes: number,
): StreamedBody | null {
  const { ports, isolate, storing } = context;
  const { largeFills } = isolate;
  const fill = largeFills.begin(head.key, ports.clock.now(), () => isOutdated(context, head));
  if (!fill) return null;
  const toClient = ports.bodies.pipe(lengthBytes);
  ports.bodies.readAhead?.(toClient.readable, isolate.site.limits.readAheadBytes);
  const copied = copyBeside(
    context,
    ports.bodies.readThrough(body),
    new BodySink(toClient.writable),
    head,
    lengthBytes,
    fill,
  );
  storing.run(copied.finally(() => largeFills.end(fill)));
  return toClient.readable;
}

async function copyBeside(
  context: RequestContext,
  reader: BodyReader,
  client: BodySink,
  head: HeadToStore,
  lengthBytes: number,
  fill: LargeFill,
): Promise<boolean> {
  const { ports, isolate } = context;
  const isLate = (step: Promise<void>) => within(ports.clock, STALLED_MS, step, () => true);
  const bodyKey = `${head.key}\n${head.fetchedAt.toString(36)}-${ports.random().toString(36).slice(2)}`;
  const pipe = ports.bodies.pipe(lengthBytes);
  const copy = new BodySink(pipe.writable);
  const taken = ports.store.keepBody(bodyKey, pipe.readable).then((isTaken) => {
    if (!isTaken) copy.giveUp("the shared tier does not take it"); // nobody reads the copy
    return isTaken;
  });
  let readBytes = 0;
  try {
    for (;;) {
      const piece = await reader.next();
      if (!piece) break;
      fill.lastChunkAt = ports.clock.now();
      readBytes += piece.byteLength;
      const sent = client.write(piece);
      if (!copy.isGone && (await isLate(copy.write(piece)))) copy.giveUp("the shared tier stalled");
      if (!copy.isGone && (await isLate(sent))) {
        copy.giveUp("the client stalled");
        ports.reporter.report({ kind: "fill-discarded", because: "client-stalled" });
      }
      if (copy.isGone) isolate.largeFills.end(fill); // another request may copy it
      await sent;
      if (client.isGone && copy.isGone) {
        await reader.cancel();
        return false;
      }
    }
    if (readBytes !== lengthBytes) throw new Error(`only ${readBytes} of ${lengthBytes} bytes arrived`);
  } catch (cause) {
    reportNotStored(context, { because: "cut-off" });
    await Promise.all([client.abort(cause), copy.abort(cause)]);
    return false;
  }
  await Promise.all([client.close(), copy.close()]);
  if (copy.isGone || !(await taken)) return false;
  const stored = { head: { ...head, bodyKey }, body: null };
  const isStored = await storeUnlessPurged(context, stored, tellNobody);
  if (isStored) isolate.collapsed.forgetHitForMiss(fetchKeyOf(context));
  return isStored;
}
