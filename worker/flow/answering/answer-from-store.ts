import type { Answer } from "../../ports/answer.ts";
import type { BodyReader, BodyWriter } from "../../ports/bodies.ts";
import { cancelBody } from "../../ports/cancel-body.ts";
import type { Ports } from "../../ports/ports.ts";
import type { FoundResponse } from "../../ports/store.ts";
import { Fields } from "../../rules/fields/fields.ts";
import type { Outcome, XCache } from "../../rules/forwarding/cache-status.ts";
import { currentAgeMs } from "../../rules/freshness/current-age.ts";
import { contentRange, multipartByteranges, unsatisfiedRange } from "../../rules/ranges/partial-content.ts";
import { type BytePart, parseRange } from "../../rules/ranges/range.ts";
import { mayHaveBody } from "../../rules/storing/framing.ts";
import { type StoredHead, storedField, validatorsOf } from "../../rules/storing/stored-response.ts";
import { isNotModified, mayHoldCoded, OF_WHOLE_CONTENT, rangeStillHolds } from "../../rules/validation/conditions.ts";
import { passFoundBody } from "../reading-bodies.ts";
import type { RequestContext } from "../request-context.ts";
import { type AnswerMetadata, answerWith, notModifiedFields, storedFields, withSource } from "./answers.ts";

/** The most parts in one answer of a body that is stored apart. */
const MAX_PARTS_APART = 64;

/**
 * Answers a client with a stored response: the whole body, one or several parts, a 304, a 416, or the header section
 * alone. Conditions are evaluated before ranges (RFC 9110 §13.2.2). `null` if the body is stored apart and is gone.
 */
export function answerFromStore(
  context: RequestContext,
  stored: FoundResponse,
  metadata: AnswerMetadata,
): Answer | Promise<Answer | null> {
  const { incoming, ports } = context;
  const form = ports.compression?.formFor(context, stored) ?? stored;
  if (form instanceof Promise) return form.then((awaited) => answerInForm(context, stored, awaited, metadata));
  const answer = answerInForm(context, stored, form, metadata);
  if (!incoming.child) return answer;
  const { outcome } = metadata;
  const source = { head: stored.head, isOfEarlierFetch: outcome.kind !== "forwarded" || outcome.collapsed };
  if (answer instanceof Promise) return answer.then((streamed) => streamed && withSource(context, streamed, source));
  return withSource(context, answer, source);
}

/** Like `answerFromStore`, with the age and the lifetime of this moment, for a response that was not judged. */
export function answerAsOfNow(
  context: RequestContext,
  stored: FoundResponse,
  xCache: XCache,
  outcome: Outcome,
): Answer | Promise<Answer | null> {
  const { initialAgeMs, receivedAt } = stored.head;
  const ageSeconds = Math.floor(currentAgeMs(initialAgeMs, receivedAt, context.ports.clock.now()) / 1000);
  const { browserTtlSeconds } = context.resolved.route;
  return answerFromStore(context, stored, { xCache, outcome, ageSeconds, browserTtlSeconds });
}

/** `form` is the stored response as the client gets it. Memory keeps `stored`, and parts are cut from it. */
function answerInForm(
  context: RequestContext,
  stored: FoundResponse,
  form: FoundResponse,
  metadata: AnswerMetadata,
): Answer | Promise<Answer | null> {
  const { head } = form;
  const fields = storedFields(head, metadata);
  const isHit = metadata.outcome.kind === "hit";
  const { facts } = context;
  if (head.status === 200) {
    if (isHeldByClient(context, head)) return withoutBody(context, form, 304, notModifiedFields(fields));
    const range = context.answersHead ? null : facts.field("range");
    if (range !== null && holdsThisForm(context, head, form !== stored)) {
      const parsed = parseRange(range, head.bodyBytes);
      if (parsed.kind === "unsatisfiable") return unsatisfiable(context, form, fields);
      if (parsed.kind === "parts") {
        if (stored.body instanceof Uint8Array || mayRead(stored, parsed.parts))
          return answerWithParts(context, stored, parsed.parts, fields, isHit);
      }
    }
  }
  if (context.answersHead) return headAlone(context, form, fields);
  if (form.body instanceof Uint8Array) {
    if (form.insteadOfBytes !== undefined) reportDelta(context, form.body, form.insteadOfBytes);
    return answerWith(form.body, head.status, fields);
  }
  if (form.body) return answerWith(passFoundBody(context, stored.head, form.body, isHit), head.status, fields);
  return streamed(context, form, [null], head.bodyBytes, head.status, fields, isHit);
}

/** Whether the parts that are asked for belong to the form that the client holds. */
function holdsThisForm({ facts, ports }: RequestContext, head: StoredHead, isCodedHere: boolean): boolean {
  const validators = validatorsOf(head);
  const hasForms = isCodedHere || mayHoldCoded(facts.originView.acceptedCodings, (name) => storedField(head, name));
  // All forms have the same date, so the date does not show which one the client holds.
  const strong = hasForms ? { ...validators, lastModified: null } : validators;
  return rangeStillHolds(facts.field("if-range"), strong, ports.clock.now());
}

function reportDelta({ ports }: RequestContext, { byteLength: bytes }: Uint8Array, insteadOfBytes: number): void {
  ports.reporter.report({ kind: "delta-sent", bytes, insteadOfBytes });
}

function headAlone(context: RequestContext, found: FoundResponse, fields: Fields): Answer {
  const { status, bodyBytes } = found.head;
  const headFields = Fields.copy(fields);
  if (mayHaveBody(status)) headFields.set("content-length", String(bodyBytes));
  return withoutBody(context, found, status, headFields);
}

function withoutBody(context: RequestContext, { body }: FoundResponse, status: number, fields: Fields): Answer {
  if (body !== null && !(body instanceof Uint8Array)) context.background.run(cancelBody(body));
  return answerWith(null, status, fields);
}

/** Whether the client's condition already matches the stored response, so that a 304 answers it. RFC 9111 §4.3.2. */
export function isHeldByClient(context: RequestContext, head: Pick<StoredHead, "fields">): boolean {
  const { facts, ports } = context;
  const ifNoneMatch = facts.field("if-none-match");
  const ifModifiedSince = facts.field("if-modified-since");
  if (ifNoneMatch === null && ifModifiedSince === null) return false;
  return isNotModified({ ifNoneMatch, ifModifiedSince }, validatorsOf(head), ports.clock.now());
}

/** RFC 9110 §15.5.17. */
function unsatisfiable(context: RequestContext, found: FoundResponse, fields: Fields): Answer {
  const headFields = notModifiedFields(fields);
  headFields.set("content-range", unsatisfiedRange(found.head.bodyBytes));
  return withoutBody(context, found, 416, headFields);
}

/** RFC 9110 §15.3.7. */
function answerWithParts(
  context: RequestContext,
  found: FoundResponse,
  parts: readonly BytePart[],
  fields: Fields,
  isHit: boolean,
): Answer | Promise<Answer | null> {
  const { random } = context.ports;
  const { head, body } = found;
  // Scripts for downloads send Content-Range with the whole page, too.
  const partFields = fields.filter((name) => name !== "content-range" && !OF_WHOLE_CONTENT.has(name));
  const [only] = parts;
  if (only && parts.length === 1) {
    partFields.set("content-range", contentRange(only, head.bodyBytes));
    if (body instanceof Uint8Array) return answerWith(body.subarray(only.first, only.last + 1), 206, partFields);
    return streamed(context, found, parts, only.last - only.first + 1, 206, partFields, isHit);
  }
  const boundary = `part-${random().toString(36).slice(2)}${random().toString(36).slice(2)}`;
  const multipart = multipartByteranges(parts, head.bodyBytes, storedField(head, "content-type"), boundary);
  partFields.set("content-type", multipart.contentType);
  return streamed(context, found, multipart.pieces, multipart.lengthBytes, 206, partFields, isHit);
}

/** Streams pieces of a stored body. `null` instead of a piece means the whole body. */
function streamed(
  context: RequestContext,
  { head, body }: FoundResponse,
  pieces: readonly (string | BytePart | null)[],
  lengthBytes: number,
  status: number,
  fields: Fields,
  isHit: boolean,
): Answer | Promise<Answer | null> {
  const { ports, background } = context;
  const answer = (parts: BodyParts): Answer => {
    const begin = () => {
      const { readable, writable } = ports.bodies.pipe(lengthBytes);
      const send = async () => {
        for (const piece of pieces) {
          if (typeof piece === "string") await writable.write(new TextEncoder().encode(piece));
          else await parts.send(piece, writable);
        }
        await writable.close();
      };
      // A failure reaches the client as a cut-off body. No other code has to learn of it.
      const sent = send().catch((cause: unknown) => writable.abort(cause));
      background.run(sent.finally(parts.end).catch(() => undefined));
      return readable;
    };
    return { ...answerWith(ports.bodies.later(lengthBytes, begin, parts.end), status, fields), bodyBytes: lengthBytes };
  };
  if (body instanceof Uint8Array) return answer(partsOf(body));
  if (body)
    return answer(partsOf(new Uint8Array(0), ports.bodies.readThrough(passFoundBody(context, head, body, isHit))));
  if (head.bodyKey === null) return Promise.resolve(null);
  const parts = pieces.filter((piece) => typeof piece !== "string");
  return partsStoredApart(ports, head.bodyKey, parts).then((read) => (read ? answer(read) : null));
}

/** Sends one part of a body after the other to a client; `null` in place of a part stands for the whole. */
interface BodyParts {
  send(part: BytePart | null, to: BodyWriter): Promise<void>;
  /** No more parts are sent. */
  readonly end: () => unknown;
}

/**
 * Whether parts are read of a body that is not in memory: once, so that each has to lie behind the one before it, and few of
 * one that is stored apart, of which the disk reads 256 KiB for each. Else the whole is sent (RFC 9110 §14.2).
 */
function mayRead({ body }: FoundResponse, parts: readonly BytePart[]): boolean {
  if (body === null && parts.length > MAX_PARTS_APART) return false;
  return parts.every((part, index) => index === 0 || parts[index - 1]!.last < part.first);
}

/**
 * Parts of a body whose pieces follow each other, cut out of them: `piece`, which begins `at` that byte, and then those of
 * `reader`. Small parts of these are copied, since each would else keep a whole piece in memory until its client has read
 * it. Each part comes after the previous one, unless all of the body is in `piece`.
 */
function partsOf(piece: Uint8Array, reader?: BodyReader, at = 0): BodyParts {
  return {
    send: async (part, to) => {
      let { first, last } = part!;
      while (first <= last) {
        const cut = piece.subarray(first - at, last + 1 - at);
        first += cut.byteLength;
        if (cut.byteLength > 0)
          await to.write(reader && cut.byteLength < piece.byteLength / 2 ? new Uint8Array(cut) : cut);
        else {
          at += piece.byteLength;
          at += reader?.skip?.(first - at) ?? 0;
          piece = (await reader?.next()) ?? cutOff();
        }
      }
    },
    end: () => reader?.cancel(),
  };
}

function cutOff(): never {
  throw new Error("a stored body was cut off");
}

/**
 * Parts in order of a body that is stored apart. It is read once, from the first part to the last, because it may be gone
 * when another reading begins. `undefined` if it is gone already.
 */
async function partsStoredApart(
  { store, bodies }: Pick<Ports, "store" | "bodies">,
  bodyKey: string,
  parts: readonly (BytePart | null)[],
): Promise<BodyParts | undefined> {
  const first = parts[0] ?? null;
  const hasGaps = parts.length > 1;
  const body = await store.readBody(bodyKey, first && { first: first.first, last: parts.at(-1)!.last, hasGaps });
  if (!body) return undefined;
  if (hasGaps) return partsOf(new Uint8Array(0), bodies.readThrough(body), first!.first);
  return { send: (_, to) => bodies.copy(body, to), end: () => body.cancel() };
}
