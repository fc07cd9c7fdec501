import { promisify } from "node:util";
import { type BrotliOptions, brotliCompress, brotliCompressSync, constants, gzip, zstdCompress } from "node:zlib";
import {
  type BodyHash,
  DICTIONARY_CODINGS,
  type DictionaryCoding,
  dictionaryHeader,
} from "../../worker/rules/deltas/available-dictionary.ts";
import type { Coding } from "../../worker/rules/variants/accept-encoding.ts";

/** A dictionary's bytes, and their hash. */
export interface DictionaryBytes {
  readonly hash: BodyHash;
  readonly bytes: Uint8Array;
}

/** Codes a body. `dictionary`: for the codings that have one. Rejects if it cannot. */
export type Encode = (
  coding: Coding | DictionaryCoding,
  body: Uint8Array,
  level: number,
  dictionary?: DictionaryBytes,
) => Promise<Uint8Array<ArrayBuffer>>;

const brotli = promisify(brotliCompress);
const zipped = promisify(gzip);
const zstandard = promisify(zstdCompress);

/** Codes on Node's own threads, so that the event loop is not blocked. */
export const encode: Encode = async (coding, body, level, dictionary) => {
  const chunkSize = pieceBytes(body.byteLength, dictionary);
  const coded = await encodeBy(coding, body, level, chunkSize, dictionary);
  // A copy of just these bytes: a view would keep the whole larger buffer in memory.
  return dictionary ? withHeader(coding as DictionaryCoding, coded, dictionary) : new Uint8Array(coded);
};

/** RFC 9842 §4, §5: a magic number and the hash of the dictionary come first. */
export function withHeader(
  coding: DictionaryCoding,
  coded: Uint8Array,
  { hash }: DictionaryBytes,
): Uint8Array<ArrayBuffer> {
  const header = dictionaryHeader(coding, Buffer.from(hash, "base64url"));
  const whole = new Uint8Array(header.byteLength + coded.byteLength);
  whole.set(header);
  whole.set(coded, header.byteLength);
  return whole;
}

/** The codings by dictionaries that this Node can make: earlier versions ignore Brotli's dictionaries. */
export function codingsMadeHere(): readonly DictionaryCoding[] {
  return DICTIONARY_CODINGS.filter((coding) => coding !== "dcb" || hasBrotliDictionaries());
}

function hasBrotliDictionaries(): boolean {
  const sample = Buffer.from("Nothing in this sentence comes twice, unless a dictionary has it: 0123456789.");
  return brotliCompressSync(sample, { dictionary: sample } as BrotliOptions).byteLength < sample.byteLength / 2;
}

function encodeBy(
  coding: Coding | DictionaryCoding,
  body: Uint8Array,
  level: number,
  chunkSize: number,
  dictionary: DictionaryBytes | undefined,
): Promise<Buffer> {
  switch (coding) {
    case "br":
    case "dcb":
      return brotli(body, {
        chunkSize,
        ...(dictionary && { dictionary: dictionary.bytes }),
        params: {
          [constants.BROTLI_PARAM_QUALITY]: dictionary ? Math.max(level, LEAST_QUALITY_BY_DICTIONARY) : level,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
          [constants.BROTLI_PARAM_LGWIN]: windowBits(body.byteLength, 10, 22),
        },
      });
    case "gzip":
      return zipped(body, { chunkSize, level });
    case "zstd":
    case "dcz":
      return zstandard(body, {
        chunkSize,
        pledgedSrcSize: body.byteLength,
        ...(dictionary && { dictionary: dictionary.bytes }),
        params: {
          [constants.ZSTD_c_compressionLevel]: level,
          // Clients need not support windows of more than 8 MB. RFC 9659 §3, RFC 9842 §5.
          [constants.ZSTD_c_windowLog]: windowBits(body.byteLength, 10, 23),
          ...(dictionary && tableFor(dictionary.bytes)),
        },
      });
  }
}

/** At lower levels Brotli does not use the dictionary. */
const LEAST_QUALITY_BY_DICTIONARY = 5;

/** Zstandard uses only as much of a dictionary as its table has room for. The default table has room for this much. */
const ROOM_OF_USUAL_TABLE = 1024 * 1024;

function tableFor({ byteLength }: Uint8Array): { [parameter: number]: number } {
  return byteLength <= ROOM_OF_USUAL_TABLE ? {} : { [constants.ZSTD_c_hashLog]: windowBits(byteLength, 20, 23) - 1 };
}

/** Most coded bodies fit into one piece of this size: each piece costs a turn on another thread. */
function pieceBytes(bodyBytes: number, dictionary: DictionaryBytes | undefined): number {
  return dictionary ? 16 * 1024 : Math.min(Math.max(4096, Math.ceil(bodyBytes / 3)), 1024 * 1024);
}

/** The smallest window that holds the body. */
function windowBits(bodyBytes: number, least: number, most: number): number {
  return Math.min(Math.max(least, Math.ceil(Math.log2(bodyBytes + 1))), most);
}
