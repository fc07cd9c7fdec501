import { crc32 } from "node:zlib";
import { DICTIONARY_CODINGS, type DictionaryCoding } from "../../worker/rules/deltas/available-dictionary.ts";
import { CODINGS, type Coding } from "../../worker/rules/variants/accept-encoding.ts";

/*
 * A file of the cache: a fixed prefix, the head's text, the body, and a checksum of each block of the body.
 *
 *   0  "TIDEMARK"
 *   8  version, 1 byte; kind, 1 byte; 2 bytes unused
 *  12  bytes of the head
 *  16  bytes of the body, a double
 *  24  checksum of the head
 *  28  checksum of the checksums of the blocks
 *  32  checksum of the 32 bytes before
 *
 * Numbers are little-endian; checksums are CRC-32. Nothing is synced to the disk: after a loss of power a file may be
 * torn, and then a checksum is wrong. Each block is verified before any of its bytes are used.
 */

const MAGIC = Buffer.from("TIDEMARK", "latin1");
const VERSION = 1;
export const PREFIX_BYTES = 36;
/** A body of up to this size costs less to read at once than in turns of the event loop. */
export const BLOCK_BYTES = 256 * 1024;
/** Every head is shorter than this. */
const MAX_HEAD_BYTES = 4 * 1024 * 1024;

/**
 * What a file holds: a stored response or a variant marker, a body that is stored apart, the body of an entry in a
 * coding that this server has made, also by a dictionary, or a dictionary.
 */
export type FileKind = "entry" | "body" | Coding | DictionaryCoding | "dictionary";
export const KINDS: readonly FileKind[] = ["entry", "body", ...CODINGS, ...DICTIONARY_CODINGS, "dictionary"];

export interface Prefix {
  readonly kind: FileKind;
  readonly headBytes: number;
  readonly bodyBytes: number;
  readonly headSum: number;
  readonly tableSum: number;
}

/** Each prefix is made in this buffer, because a new one would cost more than filling it. */
const prefixBytes = Buffer.alloc(PREFIX_BYTES);
const summedBytes = prefixBytes.subarray(0, PREFIX_BYTES - 4);
MAGIC.copy(prefixBytes);
prefixBytes[8] = VERSION;

function writePrefix(into: Buffer, at: number, prefix: Prefix): void {
  prefixBytes[9] = KINDS.indexOf(prefix.kind);
  prefixBytes.writeUInt32LE(prefix.headBytes, 12);
  prefixBytes.writeDoubleLE(prefix.bodyBytes, 16);
  prefixBytes.writeUInt32LE(prefix.headSum, 24);
  prefixBytes.writeUInt32LE(prefix.tableSum, 28);
  prefixBytes.writeUInt32LE(crc32(summedBytes), 32);
  into.set(prefixBytes, at);
}

/** Reads the prefix of a file; `undefined` if it is torn, or of another version. */
export function readPrefix(bytes: Buffer, kind: FileKind): Prefix | undefined {
  if (bytes.length < PREFIX_BYTES || MAGIC.compare(bytes, 0, 8) !== 0 || bytes[8] !== VERSION) return undefined;
  if (KINDS[bytes[9]!] !== kind || bytes.readUInt32LE(32) !== crc32(bytes.subarray(0, 32))) return undefined;
  const prefix = {
    kind,
    headBytes: bytes.readUInt32LE(12),
    bodyBytes: bytes.readDoubleLE(16),
    headSum: bytes.readUInt32LE(24),
    tableSum: bytes.readUInt32LE(28),
  };
  const isSane = prefix.headBytes <= MAX_HEAD_BYTES && Number.isSafeInteger(prefix.bodyBytes) && prefix.bodyBytes >= 0;
  return isSane ? prefix : undefined;
}

export function blockCount(bodyBytes: number): number {
  return Math.ceil(bodyBytes / BLOCK_BYTES);
}

/** The size of a file with this prefix. */
export function fileBytes({ headBytes, bodyBytes }: Pick<Prefix, "headBytes" | "bodyBytes">): number {
  return PREFIX_BYTES + headBytes + bodyBytes + 4 * blockCount(bodyBytes);
}

/** The head's text; `undefined` if it is torn. `bytes` begins with the file. */
export function readHead(bytes: Buffer, { headBytes, headSum }: Prefix): string | undefined {
  if (bytes.length < PREFIX_BYTES + headBytes) return undefined;
  const head = bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + headBytes);
  return crc32(head) === headSum ? head.toString("utf8") : undefined;
}

/** The checksums of the blocks of a body, collected while its pieces come. */
export class BlockSums {
  readonly #sums: number[] = [];
  #sum = 0;
  #bytesInBlock = 0;
  bodyBytes = 0;

  add(piece: Uint8Array): void {
    this.bodyBytes += piece.byteLength;
    for (let at = 0; at < piece.byteLength; ) {
      const part = piece.subarray(at, at + BLOCK_BYTES - this.#bytesInBlock);
      this.#sum = crc32(part, this.#sum);
      this.#bytesInBlock += part.byteLength;
      at += part.byteLength;
      if (this.#bytesInBlock === BLOCK_BYTES) this.#endBlock();
    }
  }

  /** Whether bytes at a place are those that came. Tells nothing of a block that is not whole. */
  isIntact(bytes: Uint8Array, at: number): boolean {
    const sum = this.#sums[at / BLOCK_BYTES];
    return sum === undefined || bytes.byteLength < BLOCK_BYTES || crc32(bytes) === sum;
  }

  /** The table behind the body. */
  end(): Buffer {
    if (this.#bytesInBlock > 0) this.#endBlock();
    const table = Buffer.alloc(4 * this.#sums.length);
    for (const [block, sum] of this.#sums.entries()) table.writeUInt32LE(sum, 4 * block);
    return table;
  }

  #endBlock(): void {
    this.#sums.push(this.#sum);
    this.#sum = 0;
    this.#bytesInBlock = 0;
  }
}

/** The bytes of a file before and after the body. */
export function frameOf(
  kind: FileKind,
  head: string,
  sums: BlockSums,
): { readonly start: Buffer; readonly table: Buffer } {
  const table = sums.end();
  const { bodyBytes } = sums;
  const headBytes = Buffer.byteLength(head);
  const start = Buffer.allocUnsafeSlow(PREFIX_BYTES + headBytes);
  start.write(head, PREFIX_BYTES);
  writePrefix(start, 0, { kind, headBytes, bodyBytes, headSum: crc32(head), tableSum: crc32(table) });
  return { start, table };
}

/** Whether a file of this size can be written by `writeSmallFile`: its body is one block at most. */
export function isSmallFile(bytes: number): boolean {
  return bytes <= BLOCK_BYTES;
}

/** The only checksum of a small body, or none. */
const smallTable = Buffer.alloc(4);
const noTable = smallTable.subarray(0, 0);

/** Writes a whole small file into memory, which has to have the room. Returns the file's size. */
export function writeSmallFile(into: Buffer, at: number, kind: FileKind, head: string, body: Uint8Array): number {
  const headBytes = into.write(head, at + PREFIX_BYTES);
  const bodyBytes = body.byteLength;
  const bodyAt = at + PREFIX_BYTES + headBytes;
  if (bodyBytes > 0) smallTable.writeUInt32LE(crc32(body));
  const table = bodyBytes > 0 ? smallTable : noTable;
  writePrefix(into, at, { kind, headBytes, bodyBytes, headSum: crc32(head), tableSum: crc32(table) });
  into.set(body, bodyAt);
  into.set(table, bodyAt + bodyBytes);
  return fileBytes({ headBytes, bodyBytes });
}

/** Whether a table is the one that the prefix speaks of. */
export function isTableOf({ bodyBytes, tableSum }: Prefix, table: Buffer): boolean {
  return table.length === 4 * blockCount(bodyBytes) && crc32(table) === tableSum;
}

/** Whether a block, by its number, is what was written. */
export function isBlockIntact(block: Uint8Array, number: number, table: Buffer): boolean {
  return crc32(block) === table.readUInt32LE(4 * number);
}

/** The body of a file that was read whole; `undefined` if it is torn. */
export function readWholeBody(bytes: Buffer, prefix: Prefix): Buffer | undefined {
  if (bytes.length !== fileBytes(prefix)) return undefined;
  const start = PREFIX_BYTES + prefix.headBytes;
  const body = bytes.subarray(start, start + prefix.bodyBytes);
  const table = bytes.subarray(start + prefix.bodyBytes);
  if (!isTableOf(prefix, table)) return undefined;
  for (let block = 0; block < blockCount(prefix.bodyBytes); block++) {
    const at = block * BLOCK_BYTES;
    if (!isBlockIntact(body.subarray(at, at + BLOCK_BYTES), block, table)) return undefined;
  }
  return body;
}
