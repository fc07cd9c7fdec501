import { createHash } from "node:crypto";

/** Of the process: sources with a mutant are bundled with a copy of this file. */
const PLACE = Symbol.for("tidemark: dictionaries of the tests' clients");
const ofProcess = globalThis as { [PLACE]?: Map<string, Uint8Array> };

/** The bodies that the clients of the tests hold, by their SHA-256 in base64. */
const held = ofProcess[PLACE] ?? new Map<string, Uint8Array>();
ofProcess[PLACE] = held;

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
