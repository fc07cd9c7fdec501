/** Cancels a body that nobody reads. If it was cut off before, nothing is lost, so that error is ignored. */
export async function cancelBody(body: ReadableStream | null): Promise<void> {
  await body?.cancel().catch(() => undefined);
}
