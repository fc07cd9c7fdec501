/** The most names whose values are remembered, and the longest value. */
const MAX_NAMES = 128;
const MAX_CHARACTERS = 128;

/**
 * The last values of the fields of an origin's answers, by their names. Most pages have the same values as the page before,
 * and if they share one text, a stored page takes less memory, and a text that was read once is found again without being
 * hashed.
 */
export class LastValues {
  readonly #values = new Map<string, string>();

  /** The text of this value: that of the last answer, if it is the same. */
  textOf(name: string, value: string): string {
    const last = this.#values.get(name);
    if (last === value) return last;
    if (value.length <= MAX_CHARACTERS && (last !== undefined || this.#values.size < MAX_NAMES)) {
      this.#values.set(name, value);
    }
    return value;
  }
}
