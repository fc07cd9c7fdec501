/** A body that arrives in pieces. It belongs to the platform: only its `Bodies` can read it, and at most once. */
export interface StreamedBody {
  /** True once its source has ended before its end. Absent where the platform does not tell. */
  readonly brokeOff?: boolean;
  /** Nobody reads the rest of it. */
  cancel(cause?: unknown): Promise<void>;
}

/** The platform's bodies: pipes whose length it may announce, and the reading of bodies. */
export interface Bodies {
  /** Makes a pipe. With a length, its reader gets an error if fewer bytes come. */
  pipe(lengthBytes: number | null): { readonly readable: StreamedBody; readonly writable: BodyWriter };
  /**
   * A body of this length that is made when its reader begins, if the platform tells when, so that it holds nothing before.
   * `drop` is called in place of `make` if nobody reads it.
   */
  later(lengthBytes: number, make: () => StreamedBody, drop: () => unknown): StreamedBody;
  /** Reads a body in pieces that may be kept: none of them holds much more memory than its own bytes. */
  read(body: StreamedBody): BodyReader;
  /** Reads a body that is passed on at once, in pieces as large as they arrive, if the runtime can. */
  readThrough(body: StreamedBody): BodyReader;
  /** Writes all of a body, and leaves the writer open. Rejects if either side fails. */
  copy(body: StreamedBody, to: BodyWriter): Promise<void>;
  /**
   * Takes a body of this length at once, to be kept, if all of it is here; otherwise leaves it as it is.
   * Absent where the runtime does not tell.
   */
  takeWhole?(body: StreamedBody, lengthBytes: number): Uint8Array<ArrayBuffer> | undefined;
  /**
   * Takes in the body of a request that is about to be sent, up to this many bytes, and resolves to it once all of it
   * is here. One that is longer, or has no room, streams on behind what was taken. Rejects if the body is cut off. A
   * caller that does not read the result cancels it. Absent where the platform passes bodies on as they come.
   */
  hold?(body: StreamedBody, maxBytes: number): Promise<StreamedBody>;
  /**
   * Has the body of an answer, which is then read as any other, come as fast as the origin sends it, up to this many bytes
   * ahead of a slower reader. Absent where the platform does not do that.
   */
  readAhead?(body: StreamedBody, maxBytes: number): void;
}

export interface BodyReader {
  /** The next piece; `null` at the end. Rejects if the body is cut off. */
  next(): Promise<Uint8Array | null>;
  /** Leaves out this many bytes without reading them, and returns their number. Absent where they come all the same. */
  skip?(bytes: number): number;
  cancel(): Promise<void>;
}

export interface BodyWriter {
  /** Resolves when the reader has room for more; rejects once it has gone. */
  write(piece: Uint8Array): Promise<void>;
  close(): Promise<void>;
  /** Calls this once the reader has gone, where the platform tells before something is written. */
  whenGone(tell: () => void): void;
  /** The reader gets an error, so that it does not take what came for the whole body. */
  abort(cause: unknown): Promise<void>;
  /** Grows with each piece that the reader takes. Absent where the platform does not tell. */
  taken?(): number;
}
