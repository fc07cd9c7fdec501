/** More than so many are thinned out: what is old need not be known to the millisecond. */
const MAX_SIGHTINGS = 64;

/** Up to which number a view had come, and when it first had: epoch milliseconds. */
interface Sighting {
  readonly seq: number;
  readonly at: number;
}

/**
 * When a view first saw which numbers, in bounded memory. Where instants were thinned out, a number counts as seen
 * earlier than it was, so that what a soft purge leaves usable ends sooner, and never later (R10).
 */
export class FirstSeen {
  #sightings: Sighting[] = [];

  /** Notes that the view has come up to this number. Numbers only rise. */
  note(seq: number, at: number): void {
    this.#sightings.push({ seq, at });
    if (this.#sightings.length <= MAX_SIGHTINGS) return;
    // Of two neighbours the later number goes with the earlier instant.
    this.#sightings = this.#sightings.flatMap(({ seq: later }, index, all) =>
      index % 2 === 1 ? [{ seq: later, at: all[index - 1]!.at }] : index === all.length - 1 ? [all[index]!] : [],
    );
  }

  /** When the view came to this number or beyond it: epoch milliseconds; long ago if that is not known. */
  firstSeenAt(seq: number): number {
    return this.#sightings.find((sighting) => sighting.seq >= seq)?.at ?? Number.NEGATIVE_INFINITY;
  }

  forget(): void {
    this.#sightings = [];
  }
}
