/** Beyond this many, neighbouring sightings are merged: the time of an old purge need not be exact. */
const MAX_SIGHTINGS = 64;

/** A sequence number that a view had read up to, and when it first had: epoch milliseconds. */
interface Sighting {
  readonly seq: number;
  readonly at: number;
}

/**
 * When a view first saw which sequence numbers, in bounded memory. Where sightings were merged, a number counts as seen
 * earlier than it was, so that a softly purged response stops being usable sooner, never later (R10).
 */
export class FirstSeen {
  #sightings: Sighting[] = [];

  /** Notes that the view has read up to this number. Numbers only rise. */
  note(seq: number, at: number): void {
    this.#sightings.push({ seq, at });
    if (this.#sightings.length <= MAX_SIGHTINGS) return;
    // When two sightings are merged, keep the higher number and the earlier time.
    this.#sightings = this.#sightings.flatMap(({ seq: higher }, index, all) =>
      index % 2 === 1 ? [{ seq: higher, at: all[index - 1]!.at }] : index === all.length - 1 ? [all[index]!] : [],
    );
  }

  /** When the view first reached this number: epoch milliseconds; negative infinity if that is not known. */
  firstSeenAt(seq: number): number {
    return this.#sightings.find((sighting) => sighting.seq >= seq)?.at ?? Number.NEGATIVE_INFINITY;
  }

  forget(): void {
    this.#sightings = [];
  }
}
