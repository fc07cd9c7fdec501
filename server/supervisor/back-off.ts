const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 10_000;

/** The pauses between the deaths of workers in one place and the starts of the next ones. */
export class BackOff {
  readonly #soundAfterMs: number;
  #quickDeaths = 0;

  /** A worker that lived for `soundAfterMs` milliseconds was sound, so that the next one may start at once. */
  constructor(soundAfterMs: number) {
    this.#soundAfterMs = soundAfterMs;
  }

  /** How long to wait, in milliseconds, after a worker has died that lived for `livedMs`. */
  pauseAfter(livedMs: number): number {
    if (livedMs >= this.#soundAfterMs) this.#quickDeaths = 0;
    this.#quickDeaths++;
    return this.#quickDeaths === 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.#quickDeaths - 2), LAST_PAUSE_MS);
  }
}
