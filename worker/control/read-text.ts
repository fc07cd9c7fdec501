/**
 * The text of a body of at most so many bytes; `null` for a larger one. A larger one is read on for a while and thrown
 * away, so that the client has sent it and can read the refusal instead of a reset connection.
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
