import { createHash } from "node:crypto";

/** The bodies that the clients of the tests hold, by their SHA-256 in base64. */
const held = new Map<string, Uint8Array>();

/** Lets clients hold a body. Returns the `Available-Dictionary` by which they say so. RFC 9842 §2.2. */
export function holding(body: string | Uint8Array): string {
  const bytes = Buffer.from(body);
  const hash = createHash("sha256").update(bytes).digest("base64");
  held.set(hash, bytes);
  return `:${hash}:`;
}

/** Throws if no client holds it. */
export function heldDictionary(hash: string): Uint8Array {
  const found = held.get(hash);
  if (!found) throw new Error(`no client holds a dictionary with the SHA-256 ${hash}`);
  return found;
}
