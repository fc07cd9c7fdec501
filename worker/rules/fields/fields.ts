type Line = readonly [name: string, value: string];

/**
 * The fields of a message, in the order in which their names first came. Names are in lower case. Lines of the same
 * name are one value, joined by commas, but each `Set-Cookie` stays a line of its own. RFC 9110 §5.2, §5.3.
 */
export class Fields implements Iterable<Line> {
  /** A line is never changed, because others may hold it. */
  #lines: Line[] = [];

  /** Names may be in any case. */
  constructor(lines: Iterable<Line> = []) {
    for (const [name, value] of lines) this.append(name.toLowerCase(), value);
  }

  /** Fields of these lines, with names in lower case, each once except for `Set-Cookie`. The array becomes theirs. */
  static of(lines: Line[]): Fields {
    const fields = new Fields();
    fields.#lines = lines;
    return fields;
  }

  /** The value of a field; `null` if there is none. Several `Set-Cookie` are joined. */
  get(name: string): string | null {
    let found: string | null = null;
    for (const line of this.#lines) {
      if (line[0] !== name) continue;
      if (name !== "set-cookie") return line[1];
      found = found === null ? line[1] : `${found}, ${line[1]}`;
    }
    return found;
  }

  /** The lines whose names are kept. */
  lines(isKept: (name: string) => boolean): Line[] {
    return this.#lines.filter((line) => isKept(line[0]));
  }

  /** A copy with these lines. */
  filter(isKept: (name: string) => boolean): Fields {
    return Fields.of(this.lines(isKept));
  }

  getSetCookie(): string[] {
    return this.lines((name) => name === "set-cookie").map(([, value]) => value);
  }

  has(name: string): boolean {
    return this.#indexOf(name) !== -1;
  }

  /** Replaces the field, or adds it. */
  set(name: string, value: string): void {
    const at = this.#indexOf(name);
    if (at === -1) this.#lines.push([name, value]);
    else this.#lines[at] = [name, value];
  }

  /** Adds a value to the field, or adds the field. */
  append(name: string, value: string): void {
    const at = name === "set-cookie" ? -1 : this.#indexOf(name);
    if (at === -1) this.#lines.push([name, value]);
    else this.#lines[at] = [name, `${this.#lines[at]![1]}, ${value}`];
  }

  delete(name: string): void {
    this.#lines = this.lines((other) => other !== name);
  }

  [Symbol.iterator](): Iterator<Line> {
    return this.#lines[Symbol.iterator]();
  }

  #indexOf(name: string): number {
    const lines = this.#lines;
    for (let at = 0; at < lines.length; at++) if (lines[at]![0] === name) return at;
    return -1;
  }
}
