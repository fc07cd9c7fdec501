import { memoize } from "../fields/memoize.ts";

/** The content codings that need a dictionary. RFC 9842 §4, §5. */
export const DICTIONARY_CODINGS = ["dcz", "dcb"] as const;
export type DictionaryCoding = (typeof DICTIONARY_CODINGS)[number];

/** The SHA-256 of a body, as base64url without padding. */
export type BodyHash = string;

/** The dictionary that a client holds, by its `Available-Dictionary`; `null` if it names none. RFC 9842 §2.2, RFC 9651 §3.3.5. */
export function availableDictionary(field: string | null): BodyHash | null {
  return field === null ? null : read(field) || null;
}

/** Empty for none. */
const read = memoize((field): BodyHash => {
  const [, base64 = ""] = /^ *:([A-Za-z0-9+/]{43})=?: *(?:;.*)?$/.exec(field) ?? [];
  return base64.replaceAll("+", "-").replaceAll("/", "_");
});

/** The bytes before a body in one of the codings: a magic number, and the dictionary's hash. RFC 9842 §4, §5. */
export function dictionaryHeader(coding: DictionaryCoding, sha256: Uint8Array): Uint8Array {
  return Uint8Array.of(...MAGIC[coding], ...sha256);
}

const MAGIC: Readonly<Record<DictionaryCoding, readonly number[]>> = {
  /** A skippable frame of Zstandard with 32 bytes. */
  dcz: [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00],
  dcb: [0xff, 0x44, 0x43, 0x42],
};
