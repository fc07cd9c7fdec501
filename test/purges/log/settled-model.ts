/** A purge, and the readers that may still use an older view. */
interface Purge {
  readonly seq: number;
  readonly at: number;
  readonly missing: Set<string>;
}

/** Which purges have settled, of readers that the log knows and that live on: the shortest way to say it. */
export class SettledModel {
  readonly purges: Purge[] = [];
  now = 0;
  readonly #readers = new Set<string>();
  readonly #earliestMs: number;
  readonly #boundMs: number;

  constructor({ earliestMs, boundMs }: { readonly earliestMs: number; readonly boundMs: number }) {
    this.#earliestMs = earliestMs;
    this.#boundMs = boundMs;
  }

  isReader(reader: string): boolean {
    return this.#readers.has(reader);
  }

  join(reader: string): void {
    this.#readers.add(reader);
  }

  leave(reader: string): void {
    this.#readers.delete(reader);
    for (const { missing } of this.purges) missing.delete(reader);
  }

  confirm(reader: string, upTo: number): void {
    for (const { seq, missing } of this.purges) if (seq <= upTo) missing.delete(reader);
  }

  purge(seq: number): void {
    this.purges.push({ seq, at: this.now, missing: new Set(this.#readers) });
  }

  settled(): number[] {
    const hasSettled = ({ at, missing }: Purge) =>
      this.now >= at + (missing.size === 0 ? this.#earliestMs : this.#boundMs);
    return this.purges.filter(hasSettled).map(({ seq }) => seq);
  }
}
