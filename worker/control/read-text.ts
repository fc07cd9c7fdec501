export type BodyText =
  | { readonly kind: "text"; readonly text: string }
  /** It is too large, its client has broken it off, or it is not UTF-8, as JSON must be (RFC 8259 §8.1). */
  | { readonly kind: "refused"; readonly code: "invalid" | "too-large"; readonly because: string };

/**
 * The text of a body of at most `maxBytes`. The rest of a larger body is read for a while and dropped, so that a client
 * that is still sending can read the refusal instead of a reset connection.
 */
export async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<BodyText> {
  if (body === null) return { kind: "text", text: "" };
  const refused = (code: "invalid" | "too-large", because: string) => ({ kind: "refused", code, because }) as const;
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
  try {
    for await (const value of body) {
      bytes += value.byteLength;
      if (bytes <= maxBytes) add(value);
      if (bytes > maxBytes * 4) break;
    }
  } catch {
    return refused("invalid", "the body was cut off");
  }
  if (bytes > maxBytes) return refused("too-large", `the body can have at most ${maxBytes} bytes, so split it`);
  add();
  return text === null ? refused("invalid", "the body is not in UTF-8") : { kind: "text", text };
}
