/** With more sightings than this, neighbouring ones are merged, because the time of an old purge need not be exact. */
const MAX_SIGHTINGS = 64;

/** A sequence number up to which a view had read, and the time when it first had: epoch milliseconds. */
interface Sighting {
  readonly seq: number;
  readonly at: number;
}

/**
 * Records, in bounded memory, when a view first saw each sequence number. A number whose sightings were merged counts
 * as seen earlier than it was, so that a softly purged response stops being usable sooner, never later (R10).
 */
export class FirstSeen {
  #sightings: Sighting[] = [];

  /** Records that the view has read up to this number. Numbers only rise. */
  note(seq: number, at: number): void {
    this.#sightings.push({ seq, at });
    if (this.#sightings.length <= MAX_SIGHTINGS) return;
    // When two sightings are merged, keep the higher number and the earlier time.
    this.#sightings = this.#sightings.flatMap(({ seq: higher }, index, all) =>
      index % 2 === 1 ? [{ seq: higher, at: all[index - 1]!.at }] : index === all.length - 1 ? [all[index]!] : [],
    );
  }

  /** The time when the view first reached this number: epoch milliseconds; negative infinity if it is unknown. */
  firstSeenAt(seq: number): number {
    return this.#sightings.find((sighting) => sighting.seq >= seq)?.at ?? Number.NEGATIVE_INFINITY;
  }

  forget(): void {
    this.#sightings = [];
  }
}
