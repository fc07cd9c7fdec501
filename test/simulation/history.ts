/** What purges find a page under. */
export interface Page {
  readonly target: string;
  readonly tags: readonly string[];
}

/** One request for a page that the origin answered. Its number stands in the answer. */
export interface Fetched extends Page {
  readonly number: number;
  /** The world's order of events when it was sent off. */
  readonly order: number;
  /** When it was sent off, and when its answer's head arrived, on the world's clock: epoch milliseconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** What the page was when the origin looked. */
  readonly version: number;
  /** Who caused it: a cookie or an `Authorization`; `null` for somebody without either. */
  readonly identity: string | null;
  /** Whether the origin said that the answer is for one visitor, for everybody, or nothing of the kind. */
  readonly audience: "one" | "all" | "unsaid";
  /** The language that selected it; `null` where the page is the same in all. */
  readonly language: string | null;
  /** How long the origin lets it be used: fresh, after that while it is fetched anew, or for an origin that fails. */
  readonly freshMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
}

/** A number of the log. */
export interface Purged {
  readonly name: string;
  /** A purge that its caller has a receipt of, or what the edge told the log after an unsafe request. */
  readonly kind: "purge" | "invalidation";
  readonly seq: number;
  /** The world's order of events when the log gave it its number. */
  readonly order: number;
  /** When it has settled, on the world's clock: epoch milliseconds. */
  readonly settledAt: number;
  readonly matches: (page: Page) => boolean;
}

/** A page that an unsafe request changed. */
export interface Changed {
  readonly target: string;
  /** The world's order of events when the origin changed it. */
  readonly order: number;
  readonly isolate: string;
}

/** One answer that a client got whole. */
export interface Answered {
  readonly request: string;
  readonly arrivedAt: number;
  readonly xCache: string | null;
  readonly identity: string | null;
  readonly language: string;
  /** The purge whose token the request carried; `null` for none. */
  readonly after: Purged | null;
  /** Whose bytes they are. */
  readonly fetched: Fetched;
  /** The fetch or validation that the answer rests on. */
  readonly confirmed: Fetched;
  /** What the isolate had been told by the log: up to which number, and for how long it may go by that. */
  readonly heard: number;
  readonly knewUntil: number;
}

/** What a PoP is bound to. */
export interface Bounds {
  readonly leaseMs: number;
  readonly skewMs: number;
  /** Whether the owner lets stale pages stand in for a failed origin while the log is silent, too (R18). */
  readonly staleWhileSilent: boolean;
}

/** Answers of a page that was in store, not of a fetch that the client waited for. */
export const FROM_STORE: readonly (string | null)[] = ["HIT", "UPDATING", "STALE"];

/** Everything that happened, as the origin, the log, its callers and the clients saw it. */
export class History {
  readonly fetches = new Map<number, Fetched>();
  readonly purges: Purged[] = [];
  readonly answers: Answered[] = [];
  readonly changes: Changed[] = [];
  /** When the origin failed on a page: epoch milliseconds. */
  readonly failures: { readonly target: string; readonly at: number }[] = [];
  /** The isolates that gave up telling the log of a change, and counted it. */
  readonly gaveUp = new Set<string>();
  readonly #bounds: Bounds;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** What breaks a promise of docs/design.md, in words. Decided from the record alone. */
  violations(): string[] {
    const ofAnswers = this.answers.flatMap((answer) => [
      ...this.#privacy(answer),
      ...this.#selection(answer),
      ...this.#finality(answer),
      ...this.#knowledge(answer),
      ...this.#staleness(answer),
    ]);
    return [...ofAnswers, ...this.#changes()];
  }

  /** Promise 1: what one identity caused is never shown to another, unless the origin says that it is for all. */
  #privacy({ request, identity, fetched, confirmed }: Answered): string[] {
    const shown = [...new Set([fetched, confirmed])].filter((each) => {
      if (each.identity === null && each.audience !== "one") return false;
      return each.audience !== "all" && each.identity !== identity;
    });
    return shown.map(
      (each) => `${request} of ${identity} was shown fetch ${each.number}, which ${each.identity} caused`,
    );
  }

  /** Promise 1 and 4: nobody gets what was selected for another, or bytes that their validation was not about. */
  #selection({ request, language, fetched, confirmed }: Answered): string[] {
    const wrong: string[] = [];
    if (fetched.language !== null && fetched.language !== language) {
      wrong.push(`${request} in ${language} was shown fetch ${fetched.number}, which is in ${fetched.language}`);
    }
    if (fetched.version !== confirmed.version || fetched.target !== confirmed.target) {
      wrong.push(`${request} was shown fetch ${fetched.number}, which ${confirmed.number} did not confirm`);
    }
    return wrong;
  }

  /**
   * Promise 2: once settled, for the bearer of its token at once, and from an isolate that has heard of it, nothing is
   * served that rests on a fetch from before the purge. A 304 may leave out tags that its page has.
   */
  #finality({ request, arrivedAt, after, fetched, confirmed, heard, ...answer }: Answered): string[] {
    const broken = this.purges.filter((purge) => {
      if (confirmed.order > purge.order || !(purge.matches(fetched) || purge.matches(confirmed))) return false;
      if (after === purge || heard >= purge.seq) return true;
      return arrivedAt > purge.settledAt && !this.#standsInUnknown(answer);
    });
    return broken.map(({ name }) => `${request} was shown fetch ${fetched.number}, which ${name} had ended`);
  }

  /** Promise 3: without a lease on what was purged, only what was fetched less than a lease ago is served. */
  #knowledge({ request, arrivedAt, knewUntil, fetched, confirmed, ...answer }: Answered): string[] {
    const { leaseMs, skewMs } = this.#bounds;
    if (arrivedAt <= knewUntil + 1 || arrivedAt <= confirmed.sentAt + leaseMs + skewMs) return [];
    if (this.#standsInUnknown(answer)) return [];
    return [`${request} was shown fetch ${fetched.number} by an isolate that could not know whether it was purged`];
  }

  /** RFC 9111 §4.2.4, RFC 5861: what is stale is served only as the origin lets it, and to nobody who awaits a purge. */
  #staleness({ request, arrivedAt, xCache, after, fetched, confirmed }: Answered): string[] {
    if (!FROM_STORE.includes(xCache)) return [];
    const wrong: string[] = [];
    if (after !== null && xCache !== "HIT") wrong.push(`${request} awaits a purge and was shown what is stale`);
    const windowMs = { UPDATING: confirmed.staleWhileRevalidateMs, STALE: confirmed.staleIfErrorMs }[xCache!] ?? 0;
    if (arrivedAt - confirmed.receivedAt > confirmed.freshMs + windowMs + this.#bounds.skewMs) {
      wrong.push(`${request} was shown fetch ${fetched.number} as ${xCache} after its time`);
    }
    const hasFailed = this.failures.some(({ target, at }) => target === confirmed.target && at >= arrivedAt);
    if (xCache === "STALE" && !hasFailed)
      wrong.push(`${request} was shown what is stale, and the origin had not failed`);
    return wrong;
  }

  /** RFC 9111 §4.4: the log gets to know of each change, under a number that no fetch from before the change can have. */
  #changes(): string[] {
    const untold = this.changes.filter(({ target, order, isolate }) => {
      const isTold = this.purges.some(
        (purge) => purge.kind === "invalidation" && purge.order > order && purge.matches({ target, tags: [] }),
      );
      return !isTold && !this.gaveUp.has(isolate);
    });
    return untold.map(({ target, isolate }) => `the log never heard from ${isolate} that ${target} was changed`);
  }

  #standsInUnknown({ xCache }: Pick<Answered, "xCache">): boolean {
    return xCache === "STALE" && this.#bounds.staleWhileSilent;
  }
}
