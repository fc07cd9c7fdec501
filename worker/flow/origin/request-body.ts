/** The body of a request on its way to the origin, of limited size. */
export interface RequestBody {
  readonly stream: ReadableStream | null;
  /** Whether the body is larger than the limit, by its announced length or by the bytes that came. */
  readonly isTooLarge: () => boolean;
}

/** An announced length is trusted, because the runtime holds the client to it. Chunks are counted as they pass. */
export function requestBody({ body, headers }: Request, maxBytes: number): RequestBody {
  const announced = headers.get("content-length");
  if (announced !== null && /^[0-9]+$/.test(announced)) {
    return { stream: body, isTooLarge: () => Number(announced) > maxBytes };
  }
  let bytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new Error(`a body of more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
  return { stream: body?.pipeThrough(count) ?? null, isTooLarge: () => bytes > maxBytes };
}
