import type { Answer } from "../../worker/ports/answer.ts";
import type { Fields } from "../../worker/rules/fields/fields.ts";
import { type AnsweredRequest, type AnswerHead, answerHead, headText } from "./answer-head.ts";

/** Bodies below this size go out as text, in one piece with their head, which costs less than two pieces. */
const MAX_TEXT_BYTES = 16 * 1024;

export function isSmall(bytes: Uint8Array): boolean {
  return bytes.byteLength < MAX_TEXT_BYTES;
}

/** Bytes as a text in which each character is a byte: latin1. */
export function asText(bytes: Uint8Array): string {
  return bufferOf(bytes).toString("latin1");
}

/** An answer as it is written. Each form of it is made when it is first needed. */
export class MadeAnswer {
  readonly head: AnswerHead;
  /** The bytes of the body that are sent; `null` if there are none, or if they come as a stream. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  #whole: string | undefined;
  #bodyText: string | undefined;
  #pieces: readonly [head: Buffer, body: Buffer] | undefined;

  constructor(answer: Answer, request: AnsweredRequest, strictTransportSecurity?: string) {
    const { body } = answer;
    this.head = answerHead(answer, request, strictTransportSecurity);
    const isSent = body instanceof Uint8Array && !request.isHead && this.head.framing.kind !== "none";
    this.bytes = isSent ? body : null;
  }

  /** Whether head and body, or the head alone, go out as one text. */
  get isText(): boolean {
    return this.bytes === null || isSmall(this.bytes);
  }

  /** Head and body as a text in which each character is a byte. For an answer that `isText`. */
  get whole(): string {
    this.#whole ??= headText(this.head) + this.bodyText;
    return this.#whole;
  }

  get bodyText(): string {
    this.#bodyText ??= this.bytes === null ? "" : asText(this.bytes);
    return this.#bodyText;
  }

  /** Head and body of a larger answer. The body is not copied. */
  get pieces(): readonly [head: Buffer, body: Buffer] {
    this.#pieces ??= [Buffer.from(headText(this.head), "latin1"), bufferOf(this.bytes!)];
    return this.#pieces;
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** After this time, an entry's next hit has other fields (`Age`), so that nothing older is seen again. */
const REMEMBERED_MS = 1_000;
/** The most bytes of bodies that are remembered as text, beside the bodies themselves. */
const MAX_REMEMBERED_BYTES = 32 * 1024 * 1024;

/** Remembers what was made of hits: it is the same for every hit of an entry in a second, as its fields are. */
export class MadeAnswers {
  #kept = new WeakMap<Fields, MadeAnswer>();
  #last = new WeakMap<Fields, MadeAnswer>();
  #since = performance.now();
  #bytes = 0;
  readonly #strictTransportSecurity: string | undefined;

  /** `strictTransportSecurity`: the field of this name on every answer to a visitor. Default: the answer's own. */
  constructor(strictTransportSecurity?: string) {
    this.#strictTransportSecurity = strictTransportSecurity;
  }

  make(answer: Answer, request: AnsweredRequest): MadeAnswer {
    const { status, fields, body } = answer;
    const strictTransportSecurity = answer.isForCache ? undefined : this.#strictTransportSecurity;
    // Ranges and conditions have fields of their own, which are not seen again.
    const isRepeated = body instanceof Uint8Array && !answer.isOnce && !request.isHead && status !== 206;
    if (!isRepeated) return new MadeAnswer(answer, request, strictTransportSecurity);
    const held = (request.keepsAlive ? this.#kept : this.#last).get(fields);
    if (held?.bytes === body && held.head.status === status) return held;
    this.#forgetOld(body.byteLength);
    const made = new MadeAnswer(answer, request, strictTransportSecurity);
    (request.keepsAlive ? this.#kept : this.#last).set(fields, made);
    return made;
  }

  #forgetOld(bytes: number): void {
    const now = performance.now();
    this.#bytes += bytes;
    if (now - this.#since < REMEMBERED_MS && this.#bytes < MAX_REMEMBERED_BYTES) return;
    this.#kept = new WeakMap();
    this.#last = new WeakMap();
    this.#since = now;
    this.#bytes = bytes;
  }
}
