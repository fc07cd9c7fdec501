import type { StreamedBody } from "../ports/bodies.ts";
import { cancelBody } from "../ports/cancel-body.ts";
import type { FoundResponse } from "../ports/store.ts";
import { mayHaveBody } from "../rules/storing/framing.ts";
import { type StoredResponse, storedField } from "../rules/storing/stored-response.ts";
import type { ReceivedAnswer } from "./origin/ask-origin.ts";
import type { RequestContext } from "./request-context.ts";
import { selectInSharedTier } from "./selection.ts";
import { expectWhole } from "./storing/expect-whole.ts";
import { type Fill, startFill } from "./storing/fill.ts";

/** Whether a response is in memory, body and all, or has its body stored apart. */
export function isInMemory(found: FoundResponse): found is StoredResponse {
  return found.body === null || found.body instanceof Uint8Array;
}

/**
 * Reads the body of a response that the shared tier has found. `undefined` if it does not come whole: a stored response
 * that cannot be read counts as missing.
 */
export async function readFound(
  { ports, background }: Pick<RequestContext, "ports" | "background">,
  found: FoundResponse,
): Promise<StoredResponse | undefined> {
  if (isInMemory(found)) return found;
  const { head } = found;
  const reader = ports.bodies.readThrough(found.body as StreamedBody);
  const bytes = new Uint8Array(head.bodyBytes);
  let readBytes = 0;
  try {
    for (let piece = await reader.next(); piece !== null; piece = await reader.next()) {
      const at = readBytes;
      readBytes += piece.byteLength;
      if (readBytes > bytes.byteLength) break;
      bytes.set(piece, at);
    }
    expectWhole(readBytes, bytes.byteLength);
  } catch (cause) {
    ports.reporter.report({ kind: "store-failed", cause });
    background.run(reader.cancel().catch(() => undefined));
    return undefined;
  }
  return { head, body: bytes };
}

/**
 * A response whose body was left unread, with its body, or another one of the same key and validators; `undefined` if there
 * is none any more.
 */
export async function findAgain(context: RequestContext, left: FoundResponse): Promise<FoundResponse | undefined> {
  if (isInMemory(left)) return left;
  const found = await selectInSharedTier(context);
  if (!found || namesOf(found) === namesOf(left)) return found;
  context.background.run(cancelBody(found.body));
  return undefined;
}

function namesOf({ head }: FoundResponse): string {
  return JSON.stringify([head.key, storedField(head, "etag"), storedField(head, "last-modified")]);
}

/**
 * The body on its way to the client. A hit makes a copy beside it if memory admits the response; one that the origin has
 * confirmed is stored elsewhere, or must not be.
 */
export function passFoundBody(
  context: RequestContext,
  head: FoundResponse["head"],
  body: StreamedBody,
  isHit: boolean,
): StreamedBody {
  const { bodies, store } = context.ports;
  if (!isHit || !store.admits(head)) return body;
  const remember = (bytes: Uint8Array<ArrayBuffer>) => store.remember({ head, body: bytes }, true);
  const fill = () => readBehind(context, startFillFor(context, body, head.bodyBytes), remember)!;
  return bodies.later(head.bodyBytes, fill, () => body.cancel());
}

/** Has `use` called, behind the answer, with a body that was read whole on its way. Returns the client's stream. */
export function readBehind(
  { background }: RequestContext,
  fill: Fill,
  use: (bytes: Uint8Array<ArrayBuffer>) => unknown,
): StreamedBody | null {
  background.run(fill.read.then((read) => (read.kind === "whole" ? use(read.bytes) : undefined)));
  return fill.body;
}

/**
 * Starts a fill within the budget of the isolate, and has what is left for a slower client read ahead once the copy is
 * made, or given up. Default for `maxBytes`: what the site stores with its head.
 */
export function startFillFor(
  { ports, isolate, background }: RequestContext,
  body: StreamedBody | null,
  lengthBytes: number | null,
  maxBytes = isolate.site.limits.storeBytes,
): Fill {
  const fill = startFill(body, lengthBytes, maxBytes, isolate.fills.open(ports.timer.now()), ports);
  const { body: client, read, delivered } = fill;
  const rest = read.then(() => {
    if (client) ports.bodies.readAhead?.(client, isolate.site.limits.readAheadBytes);
    return delivered;
  });
  background.run(rest);
  return fill;
}

/** The same for an answer of the origin. */
export function startFillOf(context: RequestContext, { status, body, lengthBytes }: ReceivedAnswer): Fill {
  return startFillFor(context, mayHaveBody(status) ? body : null, lengthBytes);
}
