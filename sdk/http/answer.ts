import { MAX_PURGE_BYTES } from "../../wire/purge-request.ts";
import type { FetchBody } from "./transport.ts";

/** The head of an answer. */
export interface AnswerHead {
  /** The origin that was asked. */
  endpoint: string;
  status: number;
  headers: { get(name: string): string | null };
  /** The scope of the token that was asked with. A failed read is told without a purge. */
  scope: "purge" | "read";
  /** How many requests had been sent when it came. */
  attempts: number;
}

/** An answer whose body was read to its end. */
export interface Answer extends AnswerHead {
  text: string;
}

/** Whether a status asks for another try, even if a proxy in front of the edge sent it: Cloudflare's are 520 to 530. */
export function isUnavailable(status: number): boolean {
  return (status >= 502 && status <= 504) || (status >= 520 && status <= 530);
}

export type Body = { kind: "whole"; text: string } | { kind: "too-long" } | { kind: "cut-off"; cause: unknown };

/**
 * The most bytes of an answer that are read: enough for the plan of the largest purge, which names each item as given, and
 * again with escapes of three bytes for one, beside 400 bytes for its route; for fifty refreshed URLs of the greatest length;
 * and for 500 purges with as many items as a row of the log has room for.
 */
export const MAX_ANSWER_BYTES = 5 * MAX_PURGE_BYTES;

/** Reads a body as text. It stops after `maxBytes`, so that a body without an end cannot fill the memory. */
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
