import type { StreamedBody } from "./bodies.ts";

/**
 * Cancels a body that nobody reads. Cancelling fails if the body was cut off before; that error is ignored, because
 * nothing is lost.
 */
export async function cancelBody(body: StreamedBody | Uint8Array | null): Promise<void> {
  if (body !== null && "cancel" in body) await body.cancel().catch(() => undefined);
}
