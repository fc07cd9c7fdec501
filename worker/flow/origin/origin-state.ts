/** While the origin is down, one request in this time asks whether it is back: milliseconds. */
const ASK_EVERY_MS = 1000;
/** How long an origin counts as down after the latest failure, beside the time that a failure takes: milliseconds. */
const BELIEVED_MS = 60_000;

/**
 * Whether the origin is known to be down: requests for several paths have failed one after the other, and the head of no
 * answer has come since the first of them was sent. One path that hangs says nothing of the others.
 */
export class OriginState {
  readonly #downAfter: number;
  readonly #believedMs: number;
  /** The paths that have failed since the last answer. */
  readonly #failed = new Set<string>();
  #answeredAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** `downAfter`: how many paths have to fail; 0 if the origin never counts as down. */
  constructor(downAfter: number, originTimeoutMs: number) {
    this.#downAfter = downAfter;
    this.#believedMs = originTimeoutMs + BELIEVED_MS;
  }

  isDown(now: number): boolean {
    return this.#failed.size > 0 && this.#failed.size === this.#downAfter && now - this.#failedAt < this.#believedMs;
  }

  /** Notes an answer, whatever its status: the origin is up. */
  noteAnswer(now: number): void {
    this.#answeredAt = now;
    if (this.#failed.size > 0) this.#failed.clear();
  }

  /** Notes that a request that was sent at `sentAt` got no answer. */
  noteFailure(path: string, sentAt: number, now: number): void {
    if (sentAt < this.#answeredAt) return;
    if (now - this.#failedAt >= this.#believedMs) this.#failed.clear();
    this.#failedAt = now;
    if (this.#failed.size === this.#downAfter) return;
    this.#failed.add(path);
    this.#askedAt = now;
  }

  /** Whether a request may ask now whether the origin is back. Then none may for a second. */
  mayAsk(now: number): boolean {
    if (now - this.#askedAt < ASK_EVERY_MS) return false;
    this.#askedAt = now;
    return true;
  }
}
