import type { Prospect } from "../../../worker/purges/settlement/settlement.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";

/** Everything that was said of one reader since it joined. */
interface Said {
  readonly leases: number[];
  readonly confirmed: Stamp[];
  by: object | undefined;
}

interface Purge {
  readonly position: Stamp;
  readonly bound: number;
  readonly isWatched: boolean;
  /** The readers for which it waits. */
  readonly waitsFor: readonly string[];
  /** What has been said of each reader since. */
  readonly since: { reader: string; confirmed: Stamp | "everything" }[];
  isTold: boolean;
}

const covers = (one: Stamp, other: Stamp) => one.logId === other.logId && one.seq >= other.seq;

/**
 * What `Settlement` should answer, the long way: it keeps everything that was said, and looks through all of it for each
 * question.
 */
export class SettlementModel {
  readonly #readers = new Map<string, Said>();
  readonly #purges: Purge[] = [];
  readonly #maxWatched: number;
  #strangersUntil = Number.NEGATIVE_INFINITY;

  constructor(maxWatched: number) {
    this.#maxWatched = maxWatched;
  }

  join(reader: string, until: number, by: object): void {
    const said = this.#readers.get(reader) ?? { leases: [], confirmed: [], by };
    said.leases.push(until);
    said.by = by;
    this.#readers.set(reader, said);
  }

  confirm(reader: string, position: Stamp, now: number): Stamp[] {
    const said = this.#readers.get(reader);
    said?.confirmed.push(position);
    if (said) for (const { since } of this.#purges) since.push({ reader, confirmed: position });
    return this.#newlySettled(now);
  }

  leave(reader: string, by: object, now: number): Stamp[] {
    if (this.#readers.get(reader)?.by === by) {
      this.#readers.delete(reader);
      for (const { since } of this.#purges) since.push({ reader, confirmed: "everything" });
    }
    return this.#newlySettled(now);
  }

  stranger(until: number): void {
    this.#strangersUntil = until;
  }

  watch(position: Stamp, earliest: number, bound: number, skewMs: number, now: number): Prospect {
    for (const [reader, { leases }] of this.#readers) {
      if (leases.every((until) => until + skewMs <= now)) this.#readers.delete(reader);
    }
    const waiting = this.#purges.filter((each) => each.isWatched && !each.isTold && each.bound > now).length;
    const byTheClock = this.#strangersUntil + skewMs > now || earliest >= bound;
    const waitsFor = [...this.#readers].filter(([, said]) => !hasReached(said, position)).map(([reader]) => reader);
    const isWatched = !byTheClock && waitsFor.length > 0 && waiting < this.#maxWatched;
    this.#purges.push({ position, bound, isWatched, waitsFor, since: [], isTold: false });
    return { settlesAt: byTheClock || waitsFor.length > 0 ? bound : earliest, maySettleSooner: isWatched };
  }

  unconfirmed(position: Stamp, now: number): string[] {
    const mayLack = (said: Said) => said.leases.some((until) => until > now) && !hasReached(said, position);
    return [...this.#readers].filter(([, said]) => mayLack(said)).map(([reader]) => reader);
  }

  /** Those that have settled by the clock need not be told. */
  #newlySettled(now: number): Stamp[] {
    const settled = this.#purges.filter(({ position, bound, isWatched, isTold, waitsFor, since }) => {
      const hasAnswered = (reader: string) =>
        since.some(
          (each) => each.reader === reader && (each.confirmed === "everything" || covers(each.confirmed, position)),
        );
      return isWatched && !isTold && bound > now && waitsFor.every(hasAnswered);
    });
    for (const purge of settled) purge.isTold = true;
    return settled.map(({ position }) => position);
  }
}

/** A view that has moved to another log is not in the one before any more. */
function hasReached({ confirmed }: Said, position: Stamp): boolean {
  const moved = confirmed.findLastIndex(({ logId }) => logId !== confirmed.at(-1)?.logId);
  return confirmed.slice(moved + 1).some((one) => covers(one, position));
}
