/** One event, in words. */
interface Told {
  readonly order: number;
  readonly at: number;
  /** Whose event it is; `null` for one that all stories share. */
  readonly story: string | null;
  readonly words: string;
}

/** The order of all events. The CDN's time stands still between two moves, so most of them share an instant. */
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

  /** The place of an event among all others. */
  nextOrder(): number {
    return this.#order++;
  }

  /** Notes that time has moved: what happens from now on happens at another instant. */
  beginInstant(): void {
    this.#began.set(this.now, this.nextOrder());
  }

  /** A place before all events of an instant, and after all events before it. */
  beginningOf(at: number): number {
    return this.#began.get(at) ?? -1;
  }

  tell(story: string | null, words: string): void {
    this.#told.push({ order: this.nextOrder(), at: this.now, story, words });
  }

  /** The events of one story, and those that it shares with others, a line each. Times count from the first. */
  linesOf(story: string, from: number, to: number): string[] {
    const told = this.#told.filter((each) => each.order >= from && each.order <= to);
    const beganAt = told[0]?.at ?? 0;
    return told
      .filter((each) => each.story === null || each.story === story)
      .map(({ at, words }) => `${String(at - beganAt).padStart(8)} ms  ${words}`);
  }
}
