import type { Bodies } from "./ports.ts";

/** A body on its way to the client, and what is read of it beside. */
export interface Fill {
  /** What the client reads; `null` for an answer without a body. */
  readonly body: ReadableStream | null;
  /** Ends when the origin's body ends. Never rejects. */
  readonly read: Promise<ReadBody>;
}

export type ReadBody =
  | { readonly kind: "whole"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "cut-off" | "too-large" | "over-budget" };

/** The bytes that fills of this isolate hold together, and the most that they may. */
export class FillBudget {
  readonly #mostBytes: number;
  #heldBytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  take(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#mostBytes) return false;
    this.#heldBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}

/**
 * Reads a body for keeping while it streams to the client. The origin is read as fast as it sends, so that no slow
 * client holds the fill; what is not yet delivered is bounded by `mostBytes`. A body that outgrows the bound goes on
 * to the client alone, at the client's speed. A cut in the origin's body reaches the client as a cut.
 */
export function fillBeside(
  body: ReadableStream<Uint8Array> | null,
  lengthBytes: number | null,
  mostBytes: number,
  budget: FillBudget,
  bodies: Bodies,
): Fill {
  if (body === null) {
    const whole = lengthBytes === null || lengthBytes === 0;
    return {
      body: null,
      read: Promise.resolve(whole ? { kind: "whole", bytes: new Uint8Array(0) } : { kind: "cut-off" }),
    };
  }
  const pipe = bodies.pipe(lengthBytes);
  return {
    body: pipe.readable,
    read: pump(body.getReader(), pipe.writable.getWriter(), lengthBytes, mostBytes, budget),
  };
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  lengthBytes: number | null,
  mostBytes: number,
  budget: FillBudget,
): Promise<ReadBody> {
  let chunks: Uint8Array[] = [];
  let heldBytes = 0;
  let readBytes = 0;
  let dropped: "too-large" | "over-budget" | undefined;
  let clientGone = false;
  const write = (chunk: Uint8Array) =>
    writer.write(chunk).catch(() => {
      clientGone = true; // The client went away; the fill goes on without it.
    });
  const drop = (because: "too-large" | "over-budget") => {
    dropped = because;
    chunks = [];
    budget.giveBack(heldBytes);
    heldBytes = 0;
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      readBytes += value.byteLength;
      const written = write(value);
      if (!dropped && readBytes > mostBytes) drop("too-large");
      else if (!dropped && !budget.take(value.byteLength)) drop("over-budget");
      else if (!dropped) {
        chunks.push(value);
        heldBytes += value.byteLength;
      }
      if (dropped) {
        await written;
        if (clientGone) {
          await reader.cancel();
          return { kind: dropped };
        }
      }
    }
    if (lengthBytes !== null && readBytes !== lengthBytes) throw new Error(`${readBytes} of ${lengthBytes} bytes came`);
    void writer.close().catch(() => undefined); // The client went away after the last byte was read.
    return dropped ? { kind: dropped } : { kind: "whole", bytes: join(chunks, heldBytes) };
  } catch (cause) {
    void writer.abort(cause).catch(() => undefined); // The client is gone as well.
    return { kind: "cut-off" };
  } finally {
    budget.giveBack(heldBytes);
  }
}

function join(chunks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
