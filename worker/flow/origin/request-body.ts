import type { ClientRequest } from "../../ports/answer.ts";
import type { BackgroundWork } from "../../ports/background-work.ts";
import type { Bodies, BodyReader, BodyWriter, StreamedBody } from "../../ports/bodies.ts";

/** The body of a request on its way to the origin, of limited size. */
export interface RequestBody {
  /** `null` if there is none. */
  readonly stream: StreamedBody | null;
  /** Whether the body is larger than the limit, by its announced length or by the bytes that came. */
  readonly isTooLarge: () => boolean;
  /** Whether the client has ended it before its end. */
  readonly brokeOff: () => boolean;
  /** Aborts when it is too large or breaks off; absent if its length is announced. */
  readonly cutOff?: AbortSignal;
}

/** An announced length is trusted, because the runtime holds the client to it. Chunks are counted as they pass. */
export function requestBody(
  { body, headers }: ClientRequest,
  maxBytes: number,
  bodies: Bodies,
  background: BackgroundWork,
): RequestBody {
  const announced = /^[0-9]+$/.exec(headers.get("content-length") ?? "");
  if (body === null || announced) {
    const brokeOff = () => body?.brokeOff ?? false;
    return { stream: body, isTooLarge: () => Number(announced?.[0] ?? 0) > maxBytes, brokeOff };
  }
  let bytes = 0;
  const isTooLarge = () => bytes > maxBytes;
  const pipe = bodies.pipe(null);
  const cutOff = new AbortController();
  const count = (piece: Uint8Array) => {
    bytes += piece.byteLength;
    if (!isTooLarge()) return;
    cutOff.abort();
    throw new Error(`a body of more than ${maxBytes} bytes`);
  };
  let isCutOff = false;
  const reader = bodies.readThrough(body);
  const next = () =>
    reader.next().catch((cause: unknown) => {
      isCutOff = true;
      cutOff.abort();
      throw cause;
    });
  background.run(pass({ next, cancel: () => reader.cancel() }, pipe.writable, count));
  return { stream: pipe.readable, isTooLarge, brokeOff: () => isCutOff, cutOff: cutOff.signal };
}

/**
 * The body once all of it has come, so that the origin is asked only then. It streams if the route says so, if it is
 * larger than what may be held, and where the platform holds none.
 */
export async function held(body: RequestBody, maxBytes: number, { hold }: Bodies): Promise<RequestBody> {
  if (hold === undefined || body.stream === null) return body;
  try {
    return { ...body, stream: await hold(body.stream, maxBytes) };
  } catch {
    return { ...body, stream: null }; // It is too large, or broke off.
  }
}

/** Passes pieces on until the body ends, the origin takes no more, or `check` throws. Never rejects. */
async function pass(reader: BodyReader, writer: BodyWriter, check: (piece: Uint8Array) => void): Promise<void> {
  try {
    for (let piece = await reader.next(); piece !== null; piece = await reader.next()) {
      check(piece);
      await writer.write(piece);
    }
    await writer.close();
  } catch (cause) {
    await Promise.allSettled([reader.cancel(), writer.abort(cause)]);
  }
}
