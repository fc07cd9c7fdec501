import type { Bodies, BodyReader, StreamedBody } from "../../ports.ts";
import { joined } from "../../rules/storing/joined.ts";
import { BodySink } from "./body-sink.ts";

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
 * A fill is given up after this long, together with its client: a client that reads this slowly, or that has gone
 * without the runtime's notice, must not hold bytes for ever.
 */
const SHARE_LIVES_MS = 60_000;

/**
 * The budget of all fills of this isolate: the most bytes that they hold together, counting bytes read but not yet
 * delivered, and the most fills at a time.
 */
export class FillBudget {
  readonly #maxBytes: number;
  readonly #maxFills: number;
  readonly #shares = new Set<FillShare>();
  readonly #whole: FillBudget | undefined;

  /** `whole`: the budget of several isolates in one process, of which this one's fills take as well. Default: none. */
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

  /** Opens a fill's share of the budget. `now` is epoch milliseconds. */
  open(now: number): FillShare {
    for (const share of this.#shares) if (now - share.openedAt > SHARE_LIVES_MS) share.giveUp();
    const isOneTooMany = this.#shares.size >= this.#maxFills;
    const ofWhole = this.#whole?.open(now);
    const share = new FillShare(
      now,
      (bytes) => !isOneTooMany && this.heldBytes + bytes <= this.#maxBytes && (ofWhole?.take(bytes) ?? true),
      () => {
        this.#shares.delete(share);
        ofWhole?.close();
      },
    );
    if (ofWhole) ofWhole.endClient = () => share.giveUp();
    this.#shares.add(share);
    return share;
  }
}

/** One fill's share of the budget. */
export class FillShare {
  readonly openedAt: number;
  readonly close: () => void;
  readonly #fits: (bytes: number) => boolean;
  heldBytes = 0;
  /** Ends the stream to the client. */
  endClient: () => void = () => undefined;

  constructor(openedAt: number, fits: (bytes: number) => boolean, close: () => void) {
    this.openedAt = openedAt;
    this.#fits = fits;
    this.close = close;
  }

  giveUp(): void {
    this.endClient();
    this.close();
  }

  /** Takes this many bytes from the budget, or none if they do not fit. */
  take(bytes: number): boolean {
    if (!this.#fits(bytes)) return false;
    this.heldBytes += bytes;
    return true;
  }
}

/**
 * Reads a body to store it while it streams to the client. The origin is read as fast as it sends, so that a slow
 * client does not delay the fill; `maxBytes` and the share bound the bytes not yet delivered. A body that outgrows
 * either is not stored and streams on at the client's speed. If the origin's body is cut off, so is the client's.
 */
export function startFill(
  body: StreamedBody | null,
  lengthBytes: number | null,
  maxBytes: number,
  share: FillShare,
  bodies: Bodies,
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
  share.endClient = () => client.giveUp("the client read too slowly");
  const pumped = pump(bodies.read(body), client, lengthBytes, maxBytes, share, resolve);
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
  tell: (read: ReadBody) => void,
): Promise<void> {
  let chunks: Uint8Array[] = [];
  let readBytes = 0;
  let isKept = true;
  const drop = (kind: "too-large" | "over-budget") => {
    isKept = false;
    chunks = [];
    tell({ kind });
  };
  try {
    for (;;) {
      const piece = await reader.next();
      if (piece === null) break;
      readBytes += piece.byteLength;
      const written = client.write(piece);
      if (isKept && readBytes > maxBytes) drop("too-large");
      if (isKept && !share.take(piece.byteLength)) drop("over-budget");
      if (isKept) {
        chunks.push(piece);
        continue;
      }
      await written;
      if (client.isGone) return void (await reader.cancel());
    }
    if (lengthBytes !== null && readBytes !== lengthBytes) throw new Error(`${readBytes} of ${lengthBytes} bytes came`);
    if (isKept) tell({ kind: "whole", bytes: joined(chunks, readBytes) });
    await client.close();
  } catch (cause) {
    tell({ kind: "cut-off" });
    await client.abort(cause);
  }
}
