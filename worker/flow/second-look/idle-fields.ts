import { setNewest } from "../../rules/key/set-newest.ts";
import type { LeftOut } from "../../rules/request/second-look.ts";
import { mayChoosePart } from "../../rules/variants/part-fields.ts";
import type { Place } from "./place.ts";

/** How many second looks in a row have to find that a field changes nothing. */
const LOOKS = 3;
/** One request in this many goes to the origin with the field, and gets a second look. */
const ONE_OF = 16;
/** The most fields that are known to be idle, each with one value and in one place. */
const MAX_FIELDS = 256;
/** Longer values are no choice among a few, but a client's own text. */
const MAX_VALUE_CHARACTERS = 256;
/**
 * Each client has another one, so that no look would ever speak for a second. All of them count as one value. A text with
 * a date, like a version, is a choice among a few.
 */
const IDENTIFIER = /^(?=(?:\D*\d){6})(?!.*\d{4}-\d\d-\d\d)[\w-]{12,}$/;

interface FieldRecord {
  /** The second looks in a row that have found the field to choose nothing. */
  looks: number;
  requests: number;
  /** False if what visitors with cookies or credentials got without the field could not be stored. */
  forIdentified: boolean;
}

/**
 * Unknown fields that choose nothing in a folder of the site, as far as second looks have found. A request without them
 * costs the origin one request instead of two, and its answer can be stored at once. A look speaks only for the value that it
 * compared, because anybody can send a value that changes nothing.
 */
export class IdleFields {
  readonly #records = new Map<string, FieldRecord>();

  /** Notes what a second look has found about these fields. */
  learn(place: Place, fields: LeftOut, because: "alike" | "unlike" | "differs"): void {
    for (const field of fields) {
      const [name, value] = field;
      const key = keyOf(place, field);
      if (because !== "alike") this.#records.delete(key);
      else if (!mayChoosePart(name) && value.length <= MAX_VALUE_CHARACTERS) {
        const record = this.#records.get(key) ?? { looks: 0, requests: 0, forIdentified: true };
        record.looks++;
        setNewest(this.#records, key, record, MAX_FIELDS);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#records.size === 0;
  }

  /** Whether a request in this place may go to the origin without these fields. It counts as such a request. */
  mayLeaveOut(place: Place, fields: LeftOut, isAnonymous: boolean): boolean {
    const records = fields.map((field) => this.#records.get(keyOf(place, field)));
    if (!records.every((record) => record && record.looks >= LOOKS && (isAnonymous || record.forIdentified)))
      return false;
    return records.every((record) => ++record!.requests % ONE_OF !== 0);
  }

  /** The origin's answer without these fields cannot be stored, so they may matter here. */
  refute(place: Place, fields: LeftOut, isAnonymous: boolean): void {
    for (const field of fields) {
      const record = this.#records.get(keyOf(place, field));
      if (record && !isAnonymous) record.forIdentified = false;
      else this.#records.delete(keyOf(place, field));
    }
  }
}

function keyOf({ route, folder }: Place, [name, sent]: LeftOut[number]): string {
  const value = IDENTIFIER.test(sent) ? null : sent;
  return JSON.stringify([name, folder, route, value]);
}
