import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";

/** A reply of a log: the number up to which it reaches, and its arrival on the world's clock in epoch milliseconds. */
interface News {
  readonly logId: string;
  readonly to: number;
  readonly at: number;
}

/** How long an isolate may use a reply: from the start of the read, and until when. Epoch milliseconds. */
export interface Lease {
  readonly askedAt: number;
  readonly until: number;
}

export const NO_LEASE: Lease = { askedAt: Number.NEGATIVE_INFINITY, until: Number.NEGATIVE_INFINITY };

/** One isolate's knowledge of the logs, as shown by their messages. */
export class Told {
  #news: readonly News[];
  #lease: Lease;

  constructor(news: readonly News[] = [], lease = NO_LEASE) {
    this.#news = news;
    this.#lease = lease;
  }

  get lease(): Lease {
    return this.#lease;
  }

  /** A copy of its knowledge up to now. */
  soFar(): Told {
    return new Told(this.#news, this.#lease);
  }

  hear(news: News, lease: Lease): void {
    const isOlder = this.#news.some(({ logId, to }) => logId === news.logId && to >= news.to);
    if (!isOlder) this.#news = [...this.#news, news];
    if (lease.until > this.#lease.until) this.#lease = lease;
  }

  /** Takes in another isolate's knowledge. `skewMs` is the greatest difference between their clocks. */
  take(other: Told, at: number, skewMs: number): void {
    const { askedAt, until } = other.#lease;
    const lease = { askedAt: askedAt + skewMs, until: until + skewMs };
    for (const { logId, to } of other.#news) this.hear({ logId, to, at }, lease);
  }

  /** When it first learned of a purge; `null` if it has not. */
  heardAt({ logId, seq }: Stamp): number | null {
    return this.#news.find((news) => news.logId === logId && news.to >= seq)?.at ?? null;
  }

  /** Its messages are all recorded, so that there is no doubt about the moment. */
  heardAtLast(stamp: Stamp): number | null {
    return this.heardAt(stamp);
  }

  get hasHeard(): boolean {
    return this.#news.length > 0;
  }
}
