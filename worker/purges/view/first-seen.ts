import { MAX_DATED, type ViewDelta } from "../log/log-contract.ts";

/** With more sightings than this, neighbouring ones are merged, because the time of an old purge need not be exact. */
const MAX_SIGHTINGS = 64;

/**
 * A sequence number, and a time at which no purge from the number of the sighting before up to this one is younger: epoch
 * milliseconds.
 */
export interface Sighting {
  readonly seq: number;
  readonly at: number;
}

/** The time of a purge of which nobody knows when it was made: epoch milliseconds. */
const LONG_AGO = 0;

/** The sightings that a reply gives whose purges were made so long before this time: epoch milliseconds. */
export function sightingsIn({ dated, from, to }: ViewDelta, at: number): Sighting[] {
  if (dated === undefined) return [{ seq: to, at }];
  const oldest = dated.at(-1)?.seq ?? to + 1;
  const isComplete = from > 0 && dated.length > 0 && dated.length < MAX_DATED;
  const undated = isComplete ? [] : [{ seq: oldest - 1, at: LONG_AGO }];
  return [...undated, ...dated.map(({ seq, agoMs }) => ({ seq, at: at - agoMs })).reverse()];
}

/**
 * Records, in bounded memory, when the purges were made that make pages stale, or, where the log does not tell, when the
 * view first saw them. A number whose sightings were merged counts as seen earlier than it was, so that a softly purged
 * response stops being usable sooner, never later (R10).
 */
export class FirstSeen {
  #sightings: Sighting[] = [];

  /** Numbers only rise: a sighting of one that has been seen changes nothing. */
  note(seq: number, at: number): void {
    if (seq <= (this.#sightings.at(-1)?.seq ?? 0)) return;
    this.#sightings.push({ seq, at });
    if (this.#sightings.length <= MAX_SIGHTINGS) return;
    // When two sightings are merged, keep the higher number and the earlier time.
    this.#sightings = this.#sightings.flatMap(({ seq: higher }, index, all) =>
      index % 2 === 1
        ? [{ seq: higher, at: Math.min(all[index - 1]!.at, all[index]!.at) }]
        : index === all.length - 1
          ? [all[index]!]
          : [],
    );
  }

  /** The time when the view first reached this number: epoch milliseconds; negative infinity if it is unknown. */
  firstSeenAt(seq: number): number {
    return this.#sightings.find((sighting) => sighting.seq >= seq)?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** The sightings of numbers above this one. */
  above(seq: number): Sighting[] {
    return this.#sightings.filter((sighting) => sighting.seq > seq);
  }

  forget(): void {
    this.#sightings = [];
  }
}
