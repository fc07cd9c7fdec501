import type { Clock } from "../../ports/clock.ts";
import type { Permit } from "./permit-queue.ts";

/** A place among the streams; `null` for none. */
type EnterStreams = () => Promise<Permit | null>;

/** How often a request says that it lives: milliseconds. */
const SIGN_OF_LIFE_MS = 10_000;

/** What one request holds until the origin has done with it. */
export class OriginTurn implements Permit {
  readonly #enterStreams: EnterStreams | null;
  readonly #onTurnedAway: () => void;
  readonly #permits: Permit[] = [];
  readonly #over = Promise.withResolvers<true>();
  #ofStream: Permit | null = null;

  /**
   * `enterStreams`: `null` if any number of streams may be open. `onTurnedAway` is called if the request is not let
   * through, at first or when it becomes a stream.
   */
  constructor(enterStreams: EnterStreams | null, onTurnedAway: () => void) {
    this.#enterStreams = enterStreams;
    this.#onTurnedAway = onTurnedAway;
  }

  /**
   * Holds one more permit. `null` ends the turn, because there is none for the request: the result is then false.
   * `isOfStream`: kept for as long as a stream lasts.
   */
  hold(permit: Permit | null, isOfStream = false): boolean {
    if (permit === null) {
      this.end();
      this.#onTurnedAway();
      return false;
    }
    if (isOfStream) this.#ofStream = permit;
    else this.#permits.push(permit);
    return true;
  }

  /**
   * The answer is an upgraded connection or a stream of events, whose end is unknown. From now on the request holds
   * only a place among the streams, until `ended`. False if no such place is free.
   */
  async becomeStream(ended: (() => Promise<void>) | undefined): Promise<boolean> {
    if (this.#enterStreams && this.#ofStream === null && !this.hold(await this.#enterStreams(), true)) return false;
    for (const permit of this.#permits) permit.end();
    if (this.#ofStream && ended) void ended().then(this.end);
    else this.end();
    return true;
  }

  /** The origin has sent its last byte, or will not. A second call changes nothing. */
  readonly end = (): void => {
    for (const permit of [...this.#permits, this.#ofStream]) permit?.end();
    this.#over.resolve(true);
  };

  /** Says that the request lives, until the turn is over. What has to end the turn must not end before. */
  async attend(clock: Clock): Promise<void> {
    for (let isOver = false; !isOver; this.note()) {
      const pause = clock.wait(SIGN_OF_LIFE_MS);
      isOver = (await Promise.race([this.#over.promise, pause.over])) === true;
      pause.cancel();
    }
  }

  note(): void {
    for (const permit of [...this.#permits, this.#ofStream]) permit?.note();
  }
}
