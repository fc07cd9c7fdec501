/**
 * How long an origin may take for the head of its answer. It does not run while the client sends its body, which the
 * listener bounds: after each piece the origin has the whole time.
 */
export class AnswerDeadline {
  readonly #ms: number;
  readonly #pass: () => void;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  /** `pass` is called when the time is over. */
  constructor(ms: number, pass: () => void) {
    this.#ms = ms;
    this.#pass = pass;
    this.begin();
  }

  /** The origin is waited for from now on. */
  begin(): void {
    if (!this.#hasEnded) this.#timer = setTimeout(this.#pass, this.#ms);
  }

  /** The client is waited for. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.#hasEnded = true;
    this.pause();
  }
}
