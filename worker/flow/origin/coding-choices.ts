import { CODINGS, type Coding, codingsText, includesCoding, onlyCoding } from "../../rules/variants/accept-encoding.ts";

/** How long a choice of the origin counts. After that it has to be seen again. */
const REMEMBERED_MS = 3_600_000;

/**
 * Which codings the origin prefers to which, by its answers: at most six pairs. If it was offered brotli and answered
 * gzip, and has not done the opposite since, then it would also answer gzip to an offer with brotli, so an entry in
 * gzip from an offer without brotli will do (docs/decisions/0011-encodings-are-variants.md).
 */
export class CodingChoices {
  /** By chosen coding and one that was on offer beside it: when that was seen last, in epoch milliseconds. */
  readonly #chosenAt = new Map<string, number>();

  /**
   * What the origin chose from an offer. Both are texts of fields. Content in several codings says nothing about a
   * choice.
   */
  learn(offered: string, contentEncoding: string | null, now: number): void {
    const chosen = onlyCoding(contentEncoding);
    if (chosen === null || !includesCoding(offered, chosen)) return;
    for (const other of CODINGS) {
      if (other !== chosen && includesCoding(offered, other)) this.#chosenAt.set(`${chosen} ${other}`, now);
    }
  }

  /** The codings that the origin does not choose where it can choose this one, as `acceptedCodings` writes them. */
  passedOverFor(contentEncoding: string | null, now: number): string {
    const chosen = onlyCoding(contentEncoding);
    if (chosen === null || this.#chosenAt.size === 0) return "identity";
    return codingsText(
      CODINGS.filter((other) => this.#hasPreferred(chosen, other, now) && !this.#hasPreferred(other, chosen, now)),
    );
  }

  #hasPreferred(chosen: Coding, other: Coding, now: number): boolean {
    const at = this.#chosenAt.get(`${chosen} ${other}`);
    return at !== undefined && now - at < REMEMBERED_MS;
  }
}
