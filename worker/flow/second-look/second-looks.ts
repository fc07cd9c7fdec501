import type { ResolvedUrl } from "../../rules/key/cache-key.ts";

/** Origin requests for second looks: a tenth of all others, and this many beside them. */
const SHARE = 0.1;
const AT_LEAST = 10;

/** The most fields of which it is known that they choose pages. */
const MAX_MARKS = 32;
/** A field that chooses pages in this many folders of a route chooses in all of them. */
const MAX_FOLDERS = 4;

/** Where a field chooses pages, or chooses none. */
export interface Place {
  /** The route's pattern; `null` where no route matches. */
  readonly route: string | null;
  /** The path up to its last slash. */
  readonly folder: string;
}

export function placeOf({ route, pathAndQuery }: Pick<ResolvedUrl, "route" | "pathAndQuery">): Place {
  const path = pathAndQuery.split("?", 1)[0]!;
  return { route: route.pattern, folder: path.slice(0, path.lastIndexOf("/") + 1) };
}

/** A field that chooses pages of a folder; of the whole route, if `folder` is `null`. */
interface Mark {
  readonly route: string | null;
  readonly folder: string | null;
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

  /**
   * Remembers that the field chooses pages of this folder, or of the whole route if it does so in several. Returns
   * whether there was room.
   */
  mark({ route, folder }: Place, field: string, until: number, now: number): boolean {
    this.#marks = this.#marks.filter((mark) => mark.until > now);
    const ofField = this.#marks.filter((mark) => mark.route === route && mark.field === field);
    const known = ofField.find((mark) => mark.folder === null || mark.folder === folder);
    if (known) known.until = until;
    else if (ofField.length + 1 >= MAX_FOLDERS) {
      this.#marks = this.#marks.filter((mark) => !ofField.includes(mark));
      this.#marks.push({ route, folder: null, field, until });
    } else if (this.#marks.length >= MAX_MARKS) return false;
    else this.#marks.push({ route, folder, field, until });
    return true;
  }

  get hasMarks(): boolean {
    return this.#marks.length > 0;
  }

  /** The marked field that a request in this place has; `undefined` for none. */
  markedField({ route, folder }: Place, has: (field: string) => boolean, now: number): string | undefined {
    const isIn = (mark: Mark) => mark.folder === null || mark.folder === folder;
    return this.#marks.find((mark) => mark.route === route && mark.until > now && isIn(mark) && has(mark.field))?.field;
  }
}
