/** One event, in words. */
interface Told {
  readonly order: number;
  readonly at: number;
  /** The event's story; `null` for one that all stories share. */
  readonly story: string | null;
  readonly words: string;
}

/** The order of all events. The CDN's time stands still between two moves, so most events share an instant. */
export class Timeline {
  readonly #now: () => number;
  readonly #began = new Map<number, number>();
  readonly #told: Told[] = [];
  #order = 0;

  /** `now` is the CDN's time: epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get now(): number {
    return this.#now();
  }

  /** The place of an event in the order of all events. */
  nextOrder(): number {
    return this.#order++;
  }

  /** Records that time has moved, so that later events happen at another instant. */
  beginInstant(): void {
    this.#began.set(this.now, this.nextOrder());
  }

  /** A place before all events of an instant, and after all events of earlier ones. */
  beginningOf(at: number): number {
    return this.#began.get(at) ?? -1;
  }

  tell(story: string | null, words: string): void {
    this.#told.push({ order: this.nextOrder(), at: this.now, story, words });
  }

  /** The events of one story, including those that it shares with others, one line each. Times count from the first. */
  linesOf(story: string, from: number, to: number): string[] {
    const told = this.#told.filter((each) => each.order >= from && each.order <= to);
    const beganAt = told[0]?.at ?? 0;
    return told
      .filter((each) => each.story === null || each.story === story)
      .map(({ at, words }) => `${String(at - beganAt).padStart(8)} ms  ${words}`);
  }
}
