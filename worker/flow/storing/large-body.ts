import type { Bodies, BodyReader, BodyWriter, StreamedBody } from "../../ports/bodies.ts";
import { within } from "../../within.ts";
import { reportNotStored } from "../answering/pass-on.ts";
import { fetchKeyOf } from "../collapsing/begin-fetch.ts";
import type { RequestContext } from "../request-context.ts";
import { markEarly } from "../selection.ts";
import { BodySink } from "./body-sink.ts";
import { expectWhole } from "./expect-whole.ts";
import type { LargeFill } from "./large-fills.ts";
import type { HeadToStore } from "./storage-decision.ts";
import { isOutdated, storeUnlessPurged, type TellFollowers, tellNobody } from "./store-unless-purged.ts";

/** The copy is given up if the client or the shared tier takes nothing for this long: neither may delay the other. */
const STALLED_MS = 10_000;

/**
 * Streams a large body to the client and into the shared tier, under a key to which the stored entry refers once the
 * announced length has been counted (docs/http.md#bodies-and-ranges). Where the tier gives what it is still taking, other
 * requests find the response at once if it `isShared`, and a client that is slower than the origin gets the rest from
 * there. Elsewhere the slower of the two sets the pace, and no request waits for the copy. `null`, without doing anything,
 * if a body that may be stored is already being copied for the same key.
 */
export function copyLargeBody(
  context: RequestContext,
  body: StreamedBody,
  head: HeadToStore,
  lengthBytes: number,
  tellFollowers: TellFollowers,
  isShared: boolean,
): StreamedBody | null {
  const { ports, isolate, storing } = context;
  const { largeFills } = isolate;
  const fill = largeFills.begin(head.key, ports.clock.now(), () => isOutdated(context, head));
  if (!fill) return null;
  const toClient = ports.bodies.pipe(lengthBytes);
  const reader = ports.bodies.readThrough(body);
  const copied = copyBeside(context, reader, toClient.writable, head, lengthBytes, fill, tellFollowers, isShared);
  storing.run(copied.finally(() => largeFills.end(fill)));
  return toClient.readable;
}

async function copyBeside(
  context: RequestContext,
  reader: BodyReader,
  toClient: BodyWriter,
  head: HeadToStore,
  lengthBytes: number,
  fill: LargeFill,
  tellFollowers: TellFollowers,
  isShared: boolean,
): Promise<boolean> {
  const { ports, isolate } = context;
  const isLate = (step: Promise<void>) => within(ports.clock, STALLED_MS, step, () => true);
  const bodyKey = `${head.key}\n${head.fetchedAt.toString(36)}-${ports.random().toString(36).slice(2)}`;
  const stored = { head: { ...head, bodyKey }, body: null };
  const pipe = ports.bodies.pipe(lengthBytes);
  const copy = new BodySink(pipe.writable);
  const client = new BodySink(toClient);
  const { readsWhileKept } = ports.store;
  const early = readsWhileKept && isShared ? stored : null;
  if (early) markEarly(context, early.head);
  const taken = ports.store.keepBody(bodyKey, pipe.readable, early).then((isTaken) => {
    if (copy.isGone) tellFollowers({ kind: "not-shareable" }); // The tier would take the next one as little.
    if (!isTaken) copy.giveUp("the shared tier does not take it"); // nobody reads the copy
    return isTaken;
  });
  tellFollowers({ kind: early ? "look-again" : "not-shareable" });
  let readBytes = 0;
  /** Whether the client gets the rest from the shared tier. */
  let isBehind = false;
  try {
    for (;;) {
      const piece = await reader.next();
      if (!piece) break;
      fill.lastChunkAt = ports.clock.now();
      readBytes += piece.byteLength;
      let sent = isBehind ? Promise.resolve() : client.write(piece);
      if (!copy.isGone && (await isLate(copy.write(piece)))) copy.giveUp("the shared tier stalled");
      if (readsWhileKept && !isBehind && !copy.isGone && client.waits) {
        const reading = ports.store.readBody(bodyKey, { first: readBytes, last: lengthBytes - 1 });
        const rest = await within(ports.clock, STALLED_MS, reading, () => undefined);
        if (rest) {
          isBehind = true;
          context.background.run(sendRest(ports.bodies, rest, sent, toClient));
          sent = Promise.resolve();
        }
      }
      if (!copy.isGone && (await isLate(sent))) {
        copy.giveUp("the client stalled");
        ports.reporter.report({ kind: "fill-discarded", because: "client-stalled" });
      }
      if (copy.isGone) isolate.largeFills.end(fill); // another request may copy it
      await sent;
      if ((isBehind || client.isGone) && copy.isGone) {
        await reader.cancel();
        return false;
      }
    }
    expectWhole(readBytes, lengthBytes);
  } catch (cause) {
    reportNotStored(context, { because: "cut-off" });
    await Promise.all([isBehind || client.abort(cause), copy.abort(cause)]);
    return false;
  }
  await Promise.all([isBehind || client.close(), copy.close()]);
  if (copy.isGone || !(await taken)) return false;
  const isStored = await storeUnlessPurged(context, stored, tellNobody);
  if (isStored) isolate.collapsed.forgetHitForMiss(fetchKeyOf(context));
  return isStored;
}

/** Sends the rest of a body, once the client has taken what came before. */
async function sendRest(bodies: Bodies, rest: StreamedBody, taken: Promise<void>, to: BodyWriter): Promise<void> {
  try {
    await taken;
    await bodies.copy(rest, to);
    await to.close();
  } catch (cause) {
    await to.abort(cause).catch(() => undefined); // The client may have gone.
  }
}
