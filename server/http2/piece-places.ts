/** How many pieces of stored bodies may wait for the clients of a worker, beside one of each connection. */
const MOST_OF_WORKER = 64;
/** How many of them may wait for the client of one connection. */
const MOST_OF_CONNECTION = 16;

/** The place of a piece that waits for its client. */
export interface Place {
  /** The client has taken some of it. */
  moved(): void;
  give(): void;
}

/**
 * Bounds the pieces that are read from a disk before their clients take them, because Node does not tell whether a stream
 * has a window. Each connection has a place of its own, so that no other one can hold it up.
 */
export class PiecePlaces {
  #free = MOST_OF_WORKER;
  readonly #waiting = new Set<PlacesOfConnection>();

  /** Whether there is a place for this connection. If not, it is called once there is. */
  takeFor(connection: PlacesOfConnection): boolean {
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
  forget(connection: PlacesOfConnection): void {
    this.#waiting.delete(connection);
  }
}

/** The places of one connection, for which its streams wait in their order. */
export class PlacesOfConnection {
  readonly #all: PiecePlaces;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #movedAt = Number.NEGATIVE_INFINITY;

  constructor(all: PiecePlaces) {
    this.#all = all;
  }

  /** A place; a promise if the stream has to wait for it. */
  take(): Place | Promise<Place> {
    if (this.#mayTake()) {
      this.#taken++;
      return this.#place();
    }
    return new Promise((resolve) => this.#waiting.push(() => resolve(this.#place())));
  }

  /** Whether the client has taken something within this time. `now` is that of `performance`. */
  hasMovedWithin(ms: number, now: number): boolean {
    return now - this.#movedAt < ms;
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

  #place(): Place {
    let isGiven = false;
    return {
      moved: () => {
        this.#movedAt = performance.now();
      },
      give: () => {
        if (!isGiven) this.#give();
        isGiven = true;
      },
    };
  }

  /** Hands a place on to the next stream, or else to the other connections. */
  #give(): void {
    if (this.#waiting.length > 0) this.#letNextIn();
    else if (--this.#taken > 0) this.#all.give();
  }

  #letNextIn(): void {
    this.#waiting.shift()!();
    if (this.#waiting.length === 0) this.#all.forget(this);
  }
}
