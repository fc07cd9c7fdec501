import type { Bodies, BodyReader, BodyWriter, StreamedBody } from "../ports/bodies.ts";

/** Bodies as the web's streams. `makePipe` makes the pipes, with a length where it is known. */
export function webBodies(
  makePipe: (lengthBytes: number | null) => TransformStream<Uint8Array, Uint8Array>,
  readThrough: (body: ReadableStream<Uint8Array>) => BodyReader,
): Bodies {
  return {
    pipe: (lengthBytes) => {
      const { readable, writable } = makePipe(lengthBytes);
      return { readable, writable: new WebWriter(writable) };
    },
    later: (_, make) => make(),
    read: (body) => read(streamOf(body)),
    readThrough: (body) => readThrough(streamOf(body)),
    copy: (body, to) => (to as WebWriter).takeAll(streamOf(body)),
  };
}

/** Every body of this platform is one of its streams. */
export function streamOf(body: StreamedBody): ReadableStream<Uint8Array> {
  return body as ReadableStream<Uint8Array>;
}

/** Reads a stream chunk by chunk. */
export function read(body: ReadableStream<Uint8Array>): BodyReader {
  const reader = body.getReader();
  return {
    next: async () => {
      const { done, value } = await reader.read();
      return done ? null : value;
    },
    cancel: () => reader.cancel(),
  };
}

/** A stream to write to. It is locked only while it is written to, because the runtime's own copying locks it. */
class WebWriter implements BodyWriter {
  readonly #writable: WritableStream<Uint8Array>;
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;

  constructor(writable: WritableStream<Uint8Array>) {
    this.#writable = writable;
  }

  write(piece: Uint8Array): Promise<void> {
    return this.#locked().write(piece);
  }

  close(): Promise<void> {
    return this.#locked().close();
  }

  abort(cause: unknown): Promise<void> {
    return this.#locked().abort(cause);
  }

  whenGone(tell: () => void): void {
    this.#locked().closed.catch(tell);
  }

  async takeAll(body: ReadableStream<Uint8Array>): Promise<void> {
    this.#writer?.releaseLock();
    this.#writer = undefined;
    await body.pipeTo(this.#writable, { preventClose: true });
  }

  #locked(): WritableStreamDefaultWriter<Uint8Array> {
    this.#writer ??= this.#writable.getWriter();
    return this.#writer;
  }
}
