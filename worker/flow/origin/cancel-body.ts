/**
 * Cancels a body that nobody reads. Cancelling fails if the body was cut off before; that error is ignored, because
 * nothing is lost.
 */
export async function cancelBody(body: ReadableStream | null): Promise<void> {
  await body?.cancel().catch(() => undefined);
}
