import { IdleFields } from "./idle-fields.ts";
import type { Place } from "./place.ts";

/** Origin requests for second looks: a tenth of the answers to other fetches, and this many beside them. */
const SHARE = 0.1;
const AT_LEAST = 10;

/** The most fields of which it is known that they choose pages. */
const MAX_MARKS = 32;
/** A field that chooses pages in this many folders of a route chooses in all of them. */
const MAX_FOLDERS = 4;

/** A field that chooses pages of a folder; of the whole route, if `folder` is `null`. */
interface Mark {
  readonly route: string | null;
  readonly folder: string | null;
  readonly field: string;
  /** Epoch milliseconds. */
  until: number;
}

/** The second looks of one isolate: their budget, and the fields that were found to choose pages, or none. */
export class SecondLooks {
  readonly idleFields = new IdleFields();
  #marks: Mark[] = [];
  #answers = 0;
  #looks = 0;

  /** Counts an answer of the origin, which adds to the budget for second looks. */
  countAnswer(): void {
    this.#answers++;
  }

  /** Takes one request for a look out of the budget; `false` if it is used up. */
  take(): boolean {
    if (this.#looks >= AT_LEAST + this.#answers * SHARE) return false;
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
