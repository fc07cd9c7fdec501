export type BodyText =
  | { readonly kind: "text"; readonly text: string }
  /** It has other bytes than UTF-8 has, so that what they name is unknown. JSON must be UTF-8 (RFC 8259 §8.1). */
  | { readonly kind: "not-utf-8" }
  | { readonly kind: "too-large" };

/**
 * The text of a body of at most `maxBytes`. The rest of a larger body is read for a while and dropped, so that a client
 * that is still sending can read the refusal instead of a reset connection.
 */
export async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<BodyText> {
  if (body === null) return { kind: "text", text: "" };
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let text: string | null = "";
  let bytes = 0;
  const add = (value?: Uint8Array) => {
    try {
      if (text !== null) text += decoder.decode(value, { stream: value !== undefined });
    } catch {
      text = null;
    }
  };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes <= maxBytes) add(value);
    if (bytes > maxBytes * 4) {
      await reader.cancel();
      break;
    }
  }
  if (bytes > maxBytes) return { kind: "too-large" };
  add();
  return text === null ? { kind: "not-utf-8" } : { kind: "text", text };
}
