/** How many first pieces may wait for the clients of a worker, beside one of each connection. */
const MOST_OF_WORKER = 64;
/** How many of them may wait for the client of one connection. */
const MOST_OF_CONNECTION = 16;

/**
 * Bounds the bodies that have begun and of which the client has taken nothing. Node does not tell whether a stream has a
 * window, so one piece is read to find out. Each connection has a place of its own, so that others cannot hold it up.
 */
export class FirstPieces {
  #free = MOST_OF_WORKER;
  readonly #waiting = new Set<FirstPiecesOfConnection>();

  /** Whether there is a place for this connection. If not, it is let in once there is. */
  takeFor(connection: FirstPiecesOfConnection): boolean {
    if (this.#free === 0) {
      this.#waiting.add(connection);
      return false;
    }
    this.#free--;
    return true;
  }

  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next.letIn();
  }

  /** The connection waits no more. */
  forget(connection: FirstPiecesOfConnection): void {
    this.#waiting.delete(connection);
  }
}

/** The place of a stream. */
export interface Place {
  /** Resolves once the stream has it, or waits no more; `undefined` if it has it. */
  readonly come: Promise<void> | undefined;
  /** Gives it back, or waits for it no more. Only the first call counts. */
  give(): void;
}

/** Those of one connection, for which its streams wait in their order. */
export class FirstPiecesOfConnection {
  readonly #all: FirstPieces;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(all: FirstPieces) {
    this.#all = all;
  }

  take(): Place {
    const { promise, resolve } = Promise.withResolvers<void>();
    const isFree = this.#mayTake();
    if (isFree) this.#taken++;
    else this.#waiting.add(resolve);
    let isGiven = false;
    return {
      come: isFree ? undefined : promise,
      give: () => {
        if (isGiven) return;
        isGiven = true;
        if (this.#waiting.has(resolve)) this.#letIn(resolve);
        else this.#give();
      },
    };
  }

  /** A place of all is free, for which it has waited. */
  letIn(): void {
    this.#taken++;
    this.#letNextIn();
    if (this.#waiting.size > 0 && this.#mayTake()) this.letIn();
  }

  #mayTake(): boolean {
    return this.#taken === 0 || (this.#taken < MOST_OF_CONNECTION && this.#all.takeFor(this));
  }

  /** Hands a place on to the next stream, or else to the other connections. */
  #give(): void {
    if (this.#waiting.size > 0) this.#letNextIn();
    else if (--this.#taken > 0) this.#all.give();
  }

  #letNextIn(): void {
    const [next] = this.#waiting;
    this.#letIn(next!);
  }

  #letIn(resolve: () => void): void {
    this.#waiting.delete(resolve);
    if (this.#waiting.size === 0) this.#all.forget(this);
    resolve();
  }
}
