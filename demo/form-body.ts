import type { IncomingMessage } from "node:http";
import { BadRequest } from "./router.ts";

const MAX_FORM_BYTES = 128 * 1024;

/** Reads a form that a browser sent. Throws `BadRequest` for another kind of body, or one beyond 128 KiB. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new BadRequest(415, "This address takes a form, as a browser sends it.");
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_FORM_BYTES) throw new BadRequest(413, "That is more text than a post can hold.");
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
