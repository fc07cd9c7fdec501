import type { RequestHeaders } from "../../worker/rules/request/request-facts.ts";

/**
 * The fields of a request, read from the parser's list of names and values. A hit looks up about fifteen names, and
 * most are absent, so there is no index: a name is compared only with names of the same length. Lines of the same name
 * are one value (RFC 9110 §5.3); those of `Cookie` are joined as its own syntax has it (RFC 9113 §8.2.3).
 */
export class ClientFields implements RequestHeaders {
  /** Names and values in turn, as they came. */
  readonly raw: readonly string[];
  /** The bytes of all names and values. */
  readonly bytes: number;
  /** A bit for the length of each name, modulo 32. */
  readonly #lengths: number;
  #lines: (readonly [name: string, value: string])[] | undefined;

  constructor(raw: readonly string[]) {
    this.raw = raw;
    let lengths = 0;
    let bytes = 0;
    for (let at = 0; at < raw.length; at += 2) {
      const { length } = raw[at]!;
      lengths |= 1 << length;
      bytes += length + raw[at + 1]!.length;
    }
    this.#lengths = lengths;
    this.bytes = bytes;
  }

  /** `name` is in lower case. */
  get(name: string): string | null {
    if ((this.#lengths & (1 << name.length)) === 0) return null;
    const { raw } = this;
    let found: string | null = null;
    for (let at = 0; at < raw.length; at += 2) {
      const other = raw[at]!;
      if (other.length !== name.length || (other !== name && other.toLowerCase() !== name)) continue;
      found = found === null ? raw[at + 1]! : found + separator(name) + raw[at + 1];
    }
    return found;
  }

  /** How many field lines have this name. */
  count(name: string): number {
    if ((this.#lengths & (1 << name.length)) === 0) return 0;
    let count = 0;
    for (let at = 0; at < this.raw.length; at += 2) {
      const other = this.raw[at]!;
      if (other.length === name.length && other.toLowerCase() === name) count++;
    }
    return count;
  }

  [Symbol.iterator](): Iterator<readonly [name: string, value: string]> {
    this.#lines ??= this.#joinedLines();
    return this.#lines[Symbol.iterator]();
  }

  #joinedLines(): [name: string, value: string][] {
    const joined = new Map<string, string>();
    for (let at = 0; at < this.raw.length; at += 2) {
      const name = this.raw[at]!.toLowerCase();
      const held = joined.get(name);
      joined.set(name, held === undefined ? this.raw[at + 1]! : held + separator(name) + this.raw[at + 1]);
    }
    return [...joined];
  }
}

/** A value without the spaces and tabs around it. RFC 9110 §5.5. */
export function trimmed(value: string): string {
  let begin = 0;
  let end = value.length;
  while (begin < end && isBlank(value.charCodeAt(begin))) begin++;
  while (end > begin && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(begin, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

const SPACE = 0x20;
const TAB = 0x09;

function separator(name: string): string {
  return name === "cookie" ? "; " : ", ";
}
