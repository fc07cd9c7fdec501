import type { FetchBody } from "./transport.ts";

export type Body = { kind: "whole"; text: string } | { kind: "too-long" } | { kind: "cut-off"; cause: unknown };

/** Reads a body to its end, but no more of it than a receipt can be. */
export async function readBody(body: FetchBody | null, maxBytes: number): Promise<Body> {
  if (!body) return { kind: "whole", text: "" };
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !value) return { kind: "whole", text: text + decoder.decode() };
      bytes += value.byteLength;
      if (bytes > maxBytes) {
        await reader.cancel();
        return { kind: "too-long" };
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch (cause) {
    return { kind: "cut-off", cause };
  }
}
