type Line = readonly [name: string, value: string];

/**
 * The fields of a message, in the order in which their names first came. Names are in lower case. Lines of the same
 * name are one value, joined by commas, but each `Set-Cookie` stays a line of its own. RFC 9110 §5.2, §5.3.
 */
export class Fields implements Iterable<Line> {
  /** Names and values in turn: as pairs, they would be an object more for each line of each answer. */
  #lines: string[] = [];

  /** Names may be in any case. */
  constructor(lines: Iterable<Line> = []) {
    for (const [name, value] of lines) this.append(name.toLowerCase(), value);
  }

  /** A copy of fields whose names are in lower case, each once except for `Set-Cookie`, as those of a message are. */
  static copy(fields: Iterable<Line>, isKept: (name: string) => boolean = () => true): Fields {
    const lines: string[] = [];
    for (const [name, value] of fields) if (isKept(name)) lines.push(name, value);
    return Fields.of(lines);
  }

  /** The fields of a message of the web's classes. */
  static ofHeaders(headers: Headers): Fields {
    const fields = Fields.copy(headers, (name) => name !== "set-cookie");
    for (const cookie of headers.getSetCookie()) fields.append("set-cookie", cookie);
    return fields;
  }

  /** Fields of these names and values, with names in lower case, each once except for `Set-Cookie`. The array becomes theirs. */
  static of(lines: string[]): Fields {
    const fields = new Fields();
    fields.#lines = lines;
    return fields;
  }

  /** The value of a field; `null` if there is none. Several `Set-Cookie` are joined. */
  get(name: string): string | null {
    const first = fieldIn(this.#lines, name);
    return name === "set-cookie" && first !== null ? this.getSetCookie().join(", ") : first;
  }

  /** Names and values of the lines whose names are kept, in turn. */
  lines(isKept: (name: string) => boolean): string[] {
    const lines = this.#lines;
    const kept: string[] = [];
    for (let at = 0; at < lines.length; at += 2) if (isKept(lines[at]!)) kept.push(lines[at]!, lines[at + 1]!);
    return kept;
  }

  /** A copy with these lines. */
  filter(isKept: (name: string) => boolean): Fields {
    return Fields.of(this.lines(isKept));
  }

  getSetCookie(): string[] {
    return [...this].flatMap(([name, value]) => (name === "set-cookie" ? [value] : []));
  }

  has(name: string): boolean {
    return fieldIn(this.#lines, name) !== null;
  }

  /** Replaces the field, or adds it. */
  set(name: string, value: string): void {
    const at = indexOf(this.#lines, name);
    if (at === -1) this.#lines.push(name, value);
    else this.#lines[at + 1] = value;
  }

  /** Adds a value to the field, or adds the field. */
  append(name: string, value: string): void {
    const at = name === "set-cookie" ? -1 : indexOf(this.#lines, name);
    if (at === -1) this.#lines.push(name, value);
    else this.#lines[at + 1] += `, ${value}`;
  }

  delete(name: string): void {
    this.#lines = this.lines((other) => other !== name);
  }

  [Symbol.iterator](): Iterator<Line> {
    return inPairs(this.#lines);
  }
}

/** Names and values in turn, as pairs. */
export function* inPairs(lines: readonly string[]): Generator<Line> {
  for (let at = 0; at < lines.length; at += 2) yield [lines[at]!, lines[at + 1]!];
}

/** The value of a field among names and values in turn; `null` if there is none. */
export function fieldIn(lines: readonly string[], name: string): string | null {
  const at = indexOf(lines, name);
  return at === -1 ? null : lines[at + 1]!;
}

function indexOf(lines: readonly string[], name: string): number {
  for (let at = 0; at < lines.length; at += 2) if (lines[at] === name) return at;
  return -1;
}
