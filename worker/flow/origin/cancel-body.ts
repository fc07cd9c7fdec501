/** Lets go of a body that nobody reads. That it was cut off before is nobody's loss, and no failure of ours. */
export async function cancelBody(body: ReadableStream | null): Promise<void> {
  await body?.cancel().catch(() => undefined);
}
