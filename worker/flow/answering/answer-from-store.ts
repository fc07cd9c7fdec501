import type { Answer, FoundResponse } from "../../ports.ts";
import { Fields } from "../../rules/fields/fields.ts";
import { rangeStillHolds } from "../../rules/ranges/if-range.ts";
import { contentRange, multipartByteranges, unsatisfiedRange } from "../../rules/ranges/partial-content.ts";
import { type BytePart, parseRange } from "../../rules/ranges/range.ts";
import { mayHaveBody } from "../../rules/storing/framing.ts";
import { joined } from "../../rules/storing/joined.ts";
import {
  type StoredHead,
  type StoredResponse,
  storedField,
  validatorsOf,
} from "../../rules/storing/stored-response.ts";
import { isNotModified } from "../../rules/validation/not-modified.ts";
import { isInMemory, passFoundBody, readFound } from "../found-response.ts";
import { cancelBody } from "../origin/cancel-body.ts";
import type { RequestContext } from "../request-context.ts";
import { type AnswerMetadata, answerWith, notModifiedFields, storedFields, withSource } from "./answers.ts";

/**
 * Answers a client with a stored response: the whole body, one or several parts, a 304, a 416, or the header section
 * alone. Conditions are evaluated before ranges (RFC 9110 §13.2.2). `null` if the body is stored apart and is gone.
 */
export function answerFromStore(
  context: RequestContext,
  stored: FoundResponse,
  metadata: AnswerMetadata,
): Answer | Promise<Answer | null> {
  const { child, ports } = context;
  const form = ports.compression?.formFor(context, stored) ?? stored;
  if (form instanceof Promise) return form.then((awaited) => answerInForm(context, stored, awaited, metadata));
  const answer = answerInForm(context, stored, form, metadata);
  if (!child) return answer;
  const { head } = stored;
  if (answer instanceof Promise) return answer.then((read) => read && withSource(child, read, { head }));
  return withSource(child, answer, { head });
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
  const { facts } = context;
  if (head.status === 200) {
    if (isHeldByClient(context, head)) return withoutBody(context, form, 304, notModifiedFields(fields));
    const range = context.answersHead ? null : facts.field("range");
    const validators = validatorsOf(head);
    // Where a page has two forms, its date is that of both, so that it does not tell which one the client holds.
    const strong = form === stored ? validators : { ...validators, lastModified: null };
    if (range !== null && rangeStillHolds(facts.field("if-range"), strong, context.ports.clock.now())) {
      const parsed = parseRange(range, head.bodyBytes);
      if (parsed.kind === "unsatisfiable") return unsatisfiable(context, form, fields);
      if (parsed.kind === "parts") {
        if (isInMemory(stored)) return answerWithParts(context, stored, parsed.parts, fields);
        return readFound(context, stored).then((read) => {
          if (!read) return null;
          context.ports.store.remember(read);
          return answerWithParts(context, read, parsed.parts, fields);
        });
      }
    }
  }
  if (context.answersHead) return headAlone(context, form, fields);
  if (form.body instanceof Uint8Array) return answerWith(form.body, head.status, fields);
  if (form.body) return answerWith(passFoundBody(context, stored.head, form.body), head.status, fields);
  return streamed(context, head, [null], head.bodyBytes, head.status, fields);
}

function headAlone(context: RequestContext, found: FoundResponse, fields: Fields): Answer {
  const { status, bodyBytes } = found.head;
  const headFields = new Fields(fields);
  if (mayHaveBody(status)) headFields.set("content-length", String(bodyBytes));
  return withoutBody(context, found, status, headFields);
}

function withoutBody({ background }: RequestContext, { body }: FoundResponse, status: number, fields: Fields): Answer {
  if (body !== null && !(body instanceof Uint8Array)) background.run(cancelBody(body));
  return answerWith(null, status, fields);
}

/** Whether the client's condition already matches the stored response, so that a 304 answers it. RFC 9111 §4.3.2. */
export function isHeldByClient({ facts, ports }: RequestContext, head: Pick<StoredHead, "fields">): boolean {
  const ifNoneMatch = facts.field("if-none-match");
  const ifModifiedSince = facts.field("if-modified-since");
  if (ifNoneMatch === null && ifModifiedSince === null) return false;
  return isNotModified({ ifNoneMatch, ifModifiedSince }, validatorsOf(head), ports.clock.now());
}

/** RFC 9110 §15.5.17. */
function unsatisfiable(context: RequestContext, found: FoundResponse, stored: Fields): Answer {
  const fields = notModifiedFields(stored);
  fields.set("content-range", unsatisfiedRange(found.head.bodyBytes));
  return withoutBody(context, found, 416, fields);
}

/** RFC 9110 §15.3.7. A single part of a body in memory is not copied; several parts are. */
function answerWithParts(
  context: RequestContext,
  { head, body }: StoredResponse,
  parts: readonly BytePart[],
  stored: Fields,
): Answer | Promise<Answer | null> {
  const { random } = context.ports;
  const fields = new Fields(stored);
  const [only] = parts;
  if (only && parts.length === 1) {
    fields.set("content-range", contentRange(only, head.bodyBytes));
    if (body) return answerWith(body.subarray(only.first, only.last + 1), 206, fields);
    return streamed(context, head, parts, only.last - only.first + 1, 206, fields);
  }
  const boundary = `part-${random().toString(36).slice(2)}${random().toString(36).slice(2)}`;
  const multipart = multipartByteranges(parts, head.bodyBytes, storedField(head, "content-type"), boundary);
  fields.set("content-type", multipart.contentType);
  if (body) {
    const pieces = multipart.pieces.map((piece) => bytesOf(piece, body));
    return answerWith(joined(pieces, multipart.lengthBytes), 206, fields);
  }
  return streamed(context, head, multipart.pieces, multipart.lengthBytes, 206, fields);
}

function bytesOf(piece: string | BytePart, body: Uint8Array): Uint8Array {
  return typeof piece === "string" ? new TextEncoder().encode(piece) : body.subarray(piece.first, piece.last + 1);
}

/**
 * Streams a body that is stored apart, and reads only the requested bytes. `null` in place of a piece stands for the
 * whole body.
 */
async function streamed(
  { ports, background }: RequestContext,
  { bodyKey }: StoredHead,
  pieces: readonly (string | BytePart | null)[],
  lengthBytes: number,
  status: number,
  fields: Fields,
): Promise<Answer | null> {
  if (bodyKey === null) return null;
  const read = (piece: BytePart | null) => ports.store.readBody(bodyKey, piece);
  const firstPart = pieces.find((piece) => typeof piece !== "string")!;
  let first = await read(firstPart);
  if (!first) return null;
  const pipe = ports.bodies.pipe(lengthBytes);
  const send = async () => {
    for (const piece of pieces) {
      if (typeof piece === "string") {
        await pipe.writable.write(new TextEncoder().encode(piece));
        continue;
      }
      const body = first ?? (await read(piece));
      first = undefined;
      if (!body) throw new Error("a body that was stored apart is gone");
      await ports.bodies.copy(body, pipe.writable);
    }
    await pipe.writable.close();
  };
  // A failure reaches the client as a cut-off body. No other code has to learn of it.
  background.run(send().catch((cause: unknown) => pipe.writable.abort(cause).catch(() => undefined)));
  return { ...answerWith(pipe.readable, status, fields), bodyBytes: lengthBytes };
}
