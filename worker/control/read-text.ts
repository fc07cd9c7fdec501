/**
 * The text of a body; `null` if it has more than `maxBytes`. The rest of a larger body is read for a while and dropped,
 * so that a client that is still sending can read the refusal instead of a reset connection.
 */
export async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string | null> {
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes > maxBytes ? null : text + decoder.decode();
    bytes += value.byteLength;
    if (bytes <= maxBytes) text += decoder.decode(value, { stream: true });
    if (bytes > maxBytes * 4) {
      await reader.cancel();
      return null;
    }
  }
}
