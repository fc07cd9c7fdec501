import type { BodyReader, StreamedBody } from "../../worker/ports/bodies.ts";

/** A streamed body as this platform makes them. */
export interface NodeBody extends StreamedBody {
  /** Its length if it is known before the end. */
  readonly lengthBytes: number | null;
  /** Whether it holds no bytes before it is read, and can wait for that. */
  readonly isReadOnDemand?: boolean;
  /** Begins to read it. Its pieces may share memory with each other. At most one call. */
  read(): BodyReader;
  /** `takeWhole` of `Bodies`. Default: nobody knows whether it is whole before it is read. */
  takeWhole?(lengthBytes: number): Uint8Array<ArrayBuffer> | undefined;
}

/** Every streamed body of this platform is one of its own. */
export function nodeBody(body: StreamedBody): NodeBody {
  return body as NodeBody;
}
