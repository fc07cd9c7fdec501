import type { Bodies, BodyReader, StreamedBody } from "../../ports/bodies.ts";
import type { Clock, Wait } from "../../ports/clock.ts";
import { joined } from "../../rules/storing/joined.ts";
import { BodySink } from "./body-sink.ts";
import { expectWhole } from "./expect-whole.ts";

/** A body on its way to the client, and the copy that is made of it. Neither promise rejects. */
export interface Fill {
  /** The client's stream; `null` for an answer without a body. */
  readonly body: StreamedBody | null;
  /** Resolves when the whole body has been read, is cut off, or turns out to be too large to store. */
  readonly read: Promise<ReadBody>;
  /** Resolves when the client has received all of it, or has gone. */
  readonly delivered: Promise<unknown>;
}

export type ReadBody =
  | { readonly kind: "whole"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "cut-off" | "too-large" | "over-budget" };

/**
 * A share ends when nothing has moved for this long. If pieces wait for the client, its connection ends too: a client
 * that reads nothing, or that left without the runtime's notice, must not hold bytes for ever.
 */
const STANDSTILL_MS = 60_000;

/**
 * A body that never ends would hold its place at the origin, and among the fills, for ever. So it is read for so long after
 * its client has gone, and keeps other fills out for so long.
 */
const LASTING_MS = 60_000;

/** The memory of a piece in addition to its bytes: on Node a process grows by about 1 KiB for each that waits. */
export const PIECE_OVERHEAD_BYTES = 1024;

/**
 * The budget of all fills of this isolate: the most bytes that they hold together, counting bytes read but not yet
 * delivered, and the most fills at a time.
 */
export class FillBudget {
  readonly #maxBytes: number;
  readonly #maxFills: number;
  readonly #shares = new Set<FillShare>();
  readonly #whole: FillBudget | undefined;

  /**
   * `whole`: the budget of several isolates in one process, from which the fills of this one take as well. Default:
   * none.
   */
  constructor(maxBytes: number, maxFills: number, whole?: FillBudget) {
    this.#maxBytes = maxBytes;
    this.#maxFills = maxFills;
    this.#whole = whole;
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const share of this.#shares) bytes += share.heldBytes;
    return bytes;
  }

  /**
   * Opens a fill's share of the budget, and ends shares that do not move. If there are too many, the first one that may
   * gives way. `now` is that of the timer.
   */
  open(now: number): FillShare {
    for (const share of this.#shares) share.look(now);
    if (this.#shares.size >= this.#maxFills) for (const share of this.#shares) if (share.giveWay(now)) break;
    const isOneTooMany = this.#shares.size >= this.#maxFills;
    const ofWhole = this.#whole?.open(now);
    const share = new FillShare(
      now,
      (bytes) =>
        !isOneTooMany &&
        this.#shares.has(share) &&
        this.heldBytes + bytes <= this.#maxBytes &&
        (ofWhole?.take(bytes) ?? true),
      () => {
        this.#shares.delete(share);
        ofWhole?.close();
      },
    );
    if (ofWhole) {
      ofWhole.taken = () => share.taken();
      ofWhole.endFill = () => share.giveUp();
      ofWhole.endCopy = () => share.leave();
    }
    this.#shares.add(share);
    return share;
  }
}

/** One fill's share of the budget. */
export class FillShare {
  readonly close: () => void;
  readonly #fits: (bytes: number) => boolean;
  heldBytes = 0;
  /** Grows whenever the client takes something. */
  taken: () => number = () => 0;
  /** Ends the fill, which may hold nothing from now on. */
  endFill: () => void = () => undefined;
  /** Stores nothing of the body, which streams on. False if pieces wait for the client, which hold memory. */
  endCopy: () => boolean = () => true;
  readonly #openedAt: number;
  /** How much the client had read at the last check, and when a check first saw this amount. */
  #seenTaken = 0;
  #stillSince: number;

  constructor(now: number, fits: (bytes: number) => boolean, close: () => void) {
    this.#openedAt = now;
    this.#stillSince = now;
    this.#fits = fits;
    this.close = close;
  }

  /** Ends a share that does not move. */
  look(now: number): void {
    const taken = this.taken();
    if (taken !== this.#seenTaken) this.#stillSince = now;
    this.#seenTaken = taken;
    if (now - this.#stillSince > STANDSTILL_MS) this.giveUp();
  }

  /** Leaves its place to another one, if it has lasted for more than a minute. */
  giveWay(now: number): boolean {
    return now - this.#openedAt > LASTING_MS && this.leave();
  }

  /** Ends the copy, and with it the share. False if pieces wait for the client. */
  leave(): boolean {
    if (!this.endCopy()) return false;
    this.close();
    return true;
  }

  giveUp(): void {
    this.endFill();
    this.close();
  }

  /** Takes this many bytes from the budget, or none if they do not fit. */
  take(bytes: number): boolean {
    if (!this.#fits(bytes)) return false;
    this.heldBytes += bytes;
    return true;
  }

  /** Gives back so many of the bytes that it has taken, as a negative number, which always fits. */
  give(bytes: number): void {
    this.take(-bytes);
  }
}

interface FillPorts {
  readonly bodies: Bodies;
  readonly clock: Pick<Clock, "wait">;
}

/**
 * Reads a body to store it while it streams to the client. The origin is read as fast as it sends, so that a slow
 * client does not delay the fill; `maxBytes` and the share bound the bytes not yet delivered. A body that outgrows
 * either is not stored and streams on at the client's speed; once the client has taken what waited for it, the share is
 * closed. If the origin's body is cut off, so is the client's. A body whose client has gone is read for a minute more.
 */
export function startFill(
  body: StreamedBody | null,
  lengthBytes: number | null,
  maxBytes: number,
  share: FillShare,
  { bodies, clock }: FillPorts,
): Fill {
  if (body === null) {
    share.close();
    const isWhole = lengthBytes === null || lengthBytes === 0;
    const read: ReadBody = isWhole ? { kind: "whole", bytes: new Uint8Array(0) } : { kind: "cut-off" };
    return { body: null, read: Promise.resolve(read), delivered: Promise.resolve() };
  }
  const pipe = bodies.pipe(lengthBytes);
  const { promise, resolve } = Promise.withResolvers<ReadBody>();
  const client = new BodySink(pipe.writable);
  const pumped = pump(bodies.read(body), client, lengthBytes, maxBytes, share, clock, resolve);
  return { body: pipe.readable, read: promise, delivered: pumped.then(() => share.close()) };
}

/**
 * Reads the origin's body to its end, and passes each chunk on. It waits for the client only once nothing is to be
 * stored.
 */
async function pump(
  reader: BodyReader,
  client: BodySink,
  lengthBytes: number | null,
  maxBytes: number,
  share: FillShare,
  clock: FillPorts["clock"],
  tell: (read: ReadBody) => void,
): Promise<void> {
  let chunks: Uint8Array[] = [];
  let readBytes = 0;
  let isKept = true;
  /** What the share holds of chunks that the client has taken. */
  let takenBytes = 0;
  let lasting: Wait | undefined;
  const letGo = () => {
    isKept = false;
    chunks = [];
    share.give(takenBytes);
    takenBytes = 0;
  };
  const drop = (kind: "cut-off" | "too-large" | "over-budget") => {
    letGo();
    tell({ kind });
  };
  share.taken = () => client.progress;
  share.endFill = () => {
    if (client.waits) client.giveUp("the client read nothing for a minute");
    else drop("over-budget"); // The origin sends nothing.
  };
  share.endCopy = () => {
    if (client.waits) return false;
    drop("over-budget");
    return true;
  };
  client.onGone = () => {
    lasting = clock.wait(LASTING_MS);
    const giveUp = () => {
      drop("over-budget");
      return reader.cancel();
    };
    void lasting.over.then(giveUp).catch(() => undefined); // The body has ended meanwhile.
  };
  try {
    for (;;) {
      const piece = await reader.next();
      if (piece === null) break;
      readBytes += piece.byteLength;
      const written = client.write(piece);
      if (isKept && readBytes > maxBytes) drop("too-large");
      const heldBytes = piece.byteLength + PIECE_OVERHEAD_BYTES;
      if (isKept && !share.take(heldBytes)) drop("over-budget");
      if (isKept) {
        chunks.push(piece);
        void written.then(() => {
          takenBytes += heldBytes;
          if (!isKept) letGo();
        });
        continue;
      }
      await written;
      share.close();
      if (client.isGone) return void (await reader.cancel());
    }
    expectWhole(readBytes, lengthBytes);
    if (isKept) tell({ kind: "whole", bytes: joined(chunks, readBytes) });
    letGo();
    await client.close();
  } catch (cause) {
    drop("cut-off");
    await client.abort(cause);
  } finally {
    lasting?.cancel();
  }
}
