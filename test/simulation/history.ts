/** One fetch of the origin: what it answered is known by its number, which stands in the body. */
export interface Fetched {
  readonly number: number;
  /** The world's order of events when the origin was asked. */
  readonly order: number;
  readonly target: string;
  readonly tags: readonly string[];
  /** Who caused it: a cookie or an `Authorization`; `null` for somebody without either. */
  readonly identity: string | null;
  /** Whether the origin said that the answer is for one visitor, for everybody, or nothing of the kind. */
  readonly audience: "one" | "all" | "unsaid";
}

/** One accepted purge, as its caller knows it. */
export interface Purged {
  readonly token: string;
  /** The world's order of events when the log gave it its number. */
  readonly order: number;
  /** When it has settled, on the world's clock: epoch milliseconds. */
  readonly settledAt: number;
  readonly matches: (fetched: Fetched) => boolean;
}

/** One answer that a client got whole. */
export interface Answered {
  readonly request: string;
  readonly arrivedAt: number;
  readonly identity: string | null;
  /** The purge whose token the request carried; `null` for none. */
  readonly after: Purged | null;
  readonly fetched: Fetched;
}

/** Everything that happened, as the origin, the log's callers and the clients saw it. */
export class History {
  readonly fetches: Fetched[] = [];
  readonly purges: Purged[] = [];
  readonly answers: Answered[] = [];

  /** What breaks a promise of docs/design.md, in words. Decided from the record alone. */
  violations(): string[] {
    return this.answers.flatMap((answer) => [...this.#privacy(answer), ...this.#finality(answer)]);
  }

  /** Promise 1: what one identity caused is never shown to another, unless the origin says that it is for all. */
  #privacy({ request, identity, fetched }: Answered): string[] {
    if (fetched.identity === null && fetched.audience !== "one") return [];
    if (fetched.audience === "all" || fetched.identity === identity) return [];
    return [`${request} of ${identity} was shown fetch ${fetched.number}, which ${fetched.identity} caused`];
  }

  /** Promise 2: once settled, and for the bearer of its token at once, nothing fetched before the purge is served. */
  #finality({ request, arrivedAt, after, fetched }: Answered): string[] {
    const broken = this.purges.filter(
      (purge) =>
        fetched.order < purge.order && purge.matches(fetched) && (arrivedAt > purge.settledAt || after === purge),
    );
    return broken.map(({ token }) => `${request} was shown fetch ${fetched.number}, which purge ${token} had ended`);
  }
}
