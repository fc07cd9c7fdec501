import type { OriginNews, OriginTalk } from "../../ports/origin-news.ts";

/** While the origin is down, one request in this time asks whether it is back: milliseconds. */
const ASK_EVERY_MS = 1000;
/** How long an origin counts as down after the latest failure, beside the time that a failure takes: milliseconds. */
const BELIEVED_MS = 60_000;

/**
 * Whether the origin is known to be down: requests for several paths got no connection, or no head in time, one after the
 * other, and the head of no answer has come since the first of them was sent. One hanging path does not prove that others
 * fail. Isolates that talk to each other count together, and send nothing while nothing fails. A clock may be set back, so
 * a time far ahead means no more than one long ago.
 */
export class OriginState {
  readonly #downAfter: number;
  readonly #believedMs: number;
  readonly #talk: OriginTalk | null;
  /** The paths that have failed since the last answer, and when each was asked for. */
  readonly #failed = new Map<string, number>();
  #answeredAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** `downAfter`: how many paths have to fail; 0 if the origin never counts as down. `talk`: `null` for nobody else. */
  constructor(downAfter: number, originTimeoutMs: number, talk: OriginTalk | null = null) {
    this.#downAfter = downAfter;
    this.#believedMs = originTimeoutMs + BELIEVED_MS;
    this.#talk = talk;
    if (talk) talk.onNews = (news) => this.#hear(news);
  }

  isDown(now: number): boolean {
    return this.#failed.size > 0 && this.#failed.size === this.#downAfter && this.#isBelieved(this.#failedAt, now);
  }

  /** Notes an answer, whatever its status: the origin is up. */
  noteAnswer(now: number): void {
    this.#answeredAt = now;
    if (this.#failed.size === 0) return;
    this.#failed.clear();
    this.#tellAnswer();
  }

  /** Notes that a request that was sent at `sentAt` got no answer. */
  noteFailure(path: string, sentAt: number, now: number): void {
    if (this.#wasAnsweredSince(sentAt)) return;
    this.#forgetOld(now);
    this.#failedAt = now;
    if (this.#failed.size === this.#downAfter) return;
    const isNew = !this.#failed.has(path);
    this.#failed.set(path, sentAt);
    this.#askedAt = now;
    if (isNew) this.#tellFailures();
  }

  /** Whether a request may ask now whether the origin is back. Then none may for a second. */
  mayAsk(now: number): boolean {
    if (Math.abs(now - this.#askedAt) < ASK_EVERY_MS) return false;
    this.#askedAt = now;
    this.#tellFailures();
    return true;
  }

  #hear({ failed, at, askedAt }: OriginNews): void {
    if (failed.length === 0) this.#hearAnswer(at);
    const counting = failed.filter(([, sentAt]) => !this.#wasAnsweredSince(sentAt));
    if (counting.length < failed.length) this.#tellAnswer();
    if (counting.length === 0) return;
    this.#forgetOld(at);
    this.#failedAt = Math.max(this.#failedAt, at);
    this.#askedAt = Math.max(this.#askedAt, askedAt);
    for (const [path, sentAt] of counting) {
      if (this.#failed.size < this.#downAfter) this.#failed.set(path, sentAt);
    }
  }

  #hearAnswer(at: number): void {
    this.#answeredAt = Math.max(this.#answeredAt, at);
    for (const [path, sentAt] of this.#failed) if (sentAt <= at) this.#failed.delete(path);
  }

  #forgetOld(now: number): void {
    if (this.#isBelieved(this.#failedAt, now)) return;
    this.#failed.clear();
    this.#failedAt = Number.NEGATIVE_INFINITY;
  }

  #wasAnsweredSince(sentAt: number): boolean {
    return sentAt < this.#answeredAt && this.#isBelieved(this.#answeredAt, sentAt);
  }

  #isBelieved(at: number, now: number): boolean {
    return Math.abs(now - at) < this.#believedMs;
  }

  #tellAnswer(): void {
    this.#talk?.tell({ failed: [], at: this.#answeredAt, askedAt: this.#askedAt });
  }

  #tellFailures(): void {
    this.#talk?.tell({ failed: [...this.#failed], at: this.#failedAt, askedAt: this.#askedAt });
  }
}
