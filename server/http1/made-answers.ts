import type { Answer } from "../../worker/ports/answer.ts";
import type { Fields } from "../../worker/rules/fields/fields.ts";
import { type AnsweredRequest, type AnswerHead, answerHead, headText } from "./answer-head.ts";

/** Bodies below this size are sent as text, in one piece with their head, which costs less than two pieces. */
const MAX_TEXT_BYTES = 16 * 1024;

export function isSmall(bytes: Uint8Array): boolean {
  return bytes.byteLength < MAX_TEXT_BYTES;
}

/** Bytes as a text in which each character is a byte: latin1. */
export function asText(bytes: Uint8Array): string {
  return bufferOf(bytes).toString("latin1");
}

/** An answer in the forms in which it is written. Each form is made when it is first needed. */
export class MadeAnswer {
  readonly head: AnswerHead;
  /** The bytes of the body to send; `null` if there are none, or if the body is a stream. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  #whole: string | undefined;
  #bodyText: string | undefined;
  #pieces: readonly [head: Buffer, body: Buffer] | undefined;

  constructor(answer: Answer, request: AnsweredRequest, strictTransportSecurity?: string) {
    const { body } = answer;
    this.head = answerHead(answer, request, strictTransportSecurity);
    this.bytes = body instanceof Uint8Array && !this.head.isBodiless ? body : null;
  }

  /** Whether the answer, or its head if there is no body, is sent as one text. */
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

/** After this time, an entry's next hit has other fields (`Age`), so older answers are not used again. */
const REMEMBERED_MS = 1_000;
/** The most bytes of bodies that are remembered as text, in addition to the bodies themselves. */
const MAX_REMEMBERED_BYTES = 32 * 1024 * 1024;

/** Remembers the written forms of hits: within one second, they are the same for every hit of an entry. */
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
    // Answers to ranges and conditions have their own fields, and are not used again.
    const isRepeated = body instanceof Uint8Array && !answer.isOnce && !request.isHead && status !== 206;
    if (!isRepeated) return new MadeAnswer(answer, request, strictTransportSecurity);
    const held = (request.keepsAlive ? this.#kept : this.#last).get(fields);
    if (held?.bytes === body && held.head.status === status) return held;
    const made = new MadeAnswer(answer, request, strictTransportSecurity);
    if (!fields.has("date")) return made; // Its head has got the time of now.
    this.#forgetOld(body.byteLength);
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
