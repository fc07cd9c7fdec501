import { isKeepable } from "../rules/judge.ts";
import { answerWith, markForwarded, tellBrowsers } from "./answers.ts";
import { forwarded, stream } from "./ask-origin.ts";
import { BodyEnd } from "./body-end.ts";
import type { HeadToKeep, Keepable } from "./keepable.ts";
import type { Miss, Passage } from "./passage.ts";
import { keepSelected } from "./selection.ts";

/** A client that takes nothing for so long loses the copy that is made beside it: it holds no fill. */
const STALLED_MS = 10_000;

/**
 * Streams a large body to the client and, at the pace of the slower of both, into the shared tier under a key that
 * nothing points to. Only when the announced length has been counted is the entry kept that does (docs/design.md#bodies).
 * Nobody waits for it; while it goes on, others for the same page are passed on.
 */
export function keepLarge(
  passage: Passage,
  response: Response,
  { head, fields }: Keepable & { kind: "store" },
  miss: Miss,
  lengthBytes: number,
): Response {
  const { ports, flights, behind, target } = passage;
  const copyKey = `large ${head.key}`;
  if (flights.find(copyKey)) return stream(passage, response, miss, "being-stored");
  const flight = flights.takeOff(copyKey);
  const toClient = ports.bodies.pipe(lengthBytes);
  const copied = copyBeside(passage, response.body!.getReader(), new BodyEnd(toClient.writable), head, lengthBytes);
  behind.run(copied.finally(() => flight.land({ kind: "failed", byOrigin: false }, ports.clock.now())));
  tellBrowsers(fields, target.route.browserTtlSeconds, Math.floor(head.initialAgeMs / 1000));
  markForwarded(fields, miss.xCache, forwarded(miss, { status: response.status, stored: true, collapsed: false }));
  ports.reporter.report({ kind: "answered", xCache: miss.xCache });
  return answerWith(toClient.readable, response.status, fields, response.statusText);
}

async function copyBeside(
  passage: Passage,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  client: BodyEnd,
  head: HeadToKeep,
  lengthBytes: number,
): Promise<void> {
  const { ports } = passage;
  const bodyKey = `${head.key}\n${head.fetchedAt.toString(36)}-${ports.random().toString(36).slice(2)}`;
  const pipe = ports.bodies.pipe(lengthBytes);
  const copy = new BodyEnd(pipe.writable);
  const taken = ports.store.keepBody(bodyKey, pipe.readable);
  let readBytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      readBytes += value.byteLength;
      const sent = client.write(value);
      if (!copy.isGone) await copy.write(value);
      if (!copy.isGone && (await isStalled(passage, sent))) {
        copy.giveUp("the client stalled");
        ports.reporter.report({ kind: "fill-discarded", because: "client-stalled" });
      }
      await sent;
      if (client.isGone && copy.isGone) return void (await reader.cancel());
    }
    if (readBytes !== lengthBytes) throw new Error(`${readBytes} of ${lengthBytes} bytes came`);
  } catch (cause) {
    ports.reporter.report({ kind: "body-cut-off" });
    await Promise.all([client.abort(cause), copy.abort(cause)]);
    return;
  }
  await Promise.all([client.close(), copy.close()]);
  if (copy.isGone || !(await taken)) return;
  const stored = { head: { ...head, bodyBytes: lengthBytes, bodyKey }, body: null };
  if (!isKeepable(ports.purges.check(stored.head, false))) {
    ports.reporter.report({ kind: "fill-discarded", because: "purged" });
    return;
  }
  await keepSelected(passage, stored);
}

/** Whether the client has not taken a chunk in time. */
async function isStalled({ ports }: Passage, sent: Promise<void>): Promise<boolean> {
  const wait = ports.clock.wait(STALLED_MS);
  const stalled = await Promise.race([sent.then(() => false), wait.over.then(() => true)]);
  wait.cancel();
  return stalled;
}
