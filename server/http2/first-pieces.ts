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

/** Those of one connection, for which its streams wait in their order. */
export class FirstPiecesOfConnection {
  readonly #all: FirstPieces;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(all: FirstPieces) {
    this.#all = all;
  }

  /** Takes a place; a promise if the stream has to wait for it. Whoever has it gives it back, once. */
  take(): Promise<void> | undefined {
    if (!this.#mayTake()) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken++;
    return undefined;
  }

  /** Hands a place on to the next stream, or else to the other connections. */
  give(): void {
    if (this.#waiting.length > 0) this.#letNextIn();
    else if (--this.#taken > 0) this.#all.give();
  }

  /** A place of all is free, for which it has waited. */
  letIn(): void {
    this.#taken++;
    this.#letNextIn();
    if (this.#waiting.length > 0 && this.#mayTake()) this.letIn();
  }

  #mayTake(): boolean {
    return this.#taken === 0 || (this.#taken < MOST_OF_CONNECTION && this.#all.takeFor(this));
  }

  #letNextIn(): void {
    this.#waiting.shift()!();
    if (this.#waiting.length === 0) this.#all.forget(this);
  }
}
