/**
 * How long an origin may take for the head of its answer, in all attempts together: milliseconds. It does not run while the
 * client sends its body, which the listener bounds: after each piece the origin has the whole time.
 */
export class AnswerDeadline {
  readonly #ms: number;
  /** Ends the attempt that is under way, when the time is over. */
  onPassed: () => void = () => undefined;
  /** Whether no time is left for another attempt. */
  hasPassed = false;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(ms: number) {
    this.#ms = ms;
    this.begin();
  }

  /** The origin is waited for from now on. */
  begin(): void {
    if (!this.#hasEnded) this.#timer = setTimeout(() => this.#pass(), this.#ms);
  }

  /** The client is waited for. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  #pass(): void {
    this.hasPassed = true;
    this.onPassed();
  }

  end(): void {
    this.#hasEnded = true;
    this.pause();
  }
}
