/** Origin requests for second looks: a tenth of all others, and so many more. */
const SHARE = 0.1;
const AT_LEAST = 10;

/** The most fields of which it is known that they choose pages. */
const MAX_MARKS = 32;

/** A field that chooses pages of a route. */
interface Mark {
  readonly route: string | null;
  readonly field: string;
  /** Epoch milliseconds. */
  until: number;
}

/** The second looks of one isolate: their budget, and the fields that were found to choose pages. */
export class SecondLooks {
  #marks: Mark[] = [];
  #requests = 0;
  #looks = 0;

  /** Counts a request to the origin, of whatever kind. */
  countRequest(): void {
    this.#requests++;
  }

  /** Takes one request for a look out of the budget; `false` if it is used up. */
  take(): boolean {
    if (this.#looks >= AT_LEAST + (this.#requests - this.#looks) * SHARE) return false;
    this.#looks++;
    return true;
  }

  /** Remembers that the field chooses pages of this route. Returns whether there was room. */
  mark(route: string | null, field: string, until: number, now: number): boolean {
    this.#marks = this.#marks.filter((mark) => mark.until > now);
    const known = this.#marks.find((mark) => mark.route === route && mark.field === field);
    if (known) known.until = until;
    else if (this.#marks.length >= MAX_MARKS) return false;
    else this.#marks.push({ route, field, until });
    return true;
  }

  get hasMarks(): boolean {
    return this.#marks.length > 0;
  }

  /** The marked field that a request on this route has; `undefined` for none. */
  markedField(route: string | null, has: (field: string) => boolean, now: number): string | undefined {
    return this.#marks.find((mark) => mark.route === route && mark.until > now && has(mark.field))?.field;
  }
}
