import { joined } from "../../worker/rules/storing/joined.ts";
import { GrowingBytes } from "./growing-bytes.ts";

const SMALL_PIECE_BYTES = 4 * 1024;
const MAX_JOINED_BYTES = 64 * 1024;

/** So many small pieces wait for each other, because it costs more to join them one by one. They take up to 100 KB. */
const MANY_PIECES = 256;

/**
 * Pieces that wait for their reader, in their order. Small ones are joined, because each takes up to 400 bytes of memory by
 * itself, and keeps the buffer of which it is a part.
 */
export class WaitingPieces {
  readonly #pieces: Uint8Array[] = [];
  /** The last of them, to which more may be joined: first these bytes, then the small pieces. */
  readonly #joined = new GrowingBytes();
  readonly #small: Uint8Array[] = [];
  #smallBytes = 0;
  #bytes = 0;

  /** How many bytes all of them have. */
  get bytes(): number {
    return this.#bytes;
  }

  push(piece: Uint8Array): void {
    const { byteLength } = piece;
    this.#bytes += byteLength;
    const isSmall = byteLength < SMALL_PIECE_BYTES;
    if (!isSmall || this.#joined.length + this.#smallBytes + byteLength > MAX_JOINED_BYTES) this.#endJoined();
    if (!isSmall) {
      this.#pieces.push(piece);
      return;
    }
    this.#small.push(piece);
    this.#smallBytes += byteLength;
    if (this.#small.length === MANY_PIECES) this.#joined.add(this.#takeSmall());
  }

  /** Puts a piece before all others. */
  unshift(piece: Uint8Array): void {
    this.#pieces.unshift(piece);
    this.#bytes += piece.byteLength;
  }

  shift(): Uint8Array | undefined {
    if (this.#pieces.length === 0) this.#endJoined();
    const piece = this.#pieces.shift();
    this.#bytes -= piece?.byteLength ?? 0;
    return piece;
  }

  /** All of them as one. */
  takeAll(): Uint8Array {
    this.#endJoined();
    const pieces = this.#pieces.splice(0);
    const bytes = this.#bytes;
    this.#bytes = 0;
    return asOne(pieces, bytes);
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#joined.clear();
    this.#small.length = 0;
    this.#smallBytes = 0;
    this.#bytes = 0;
  }

  #takeSmall(): Uint8Array {
    const pieces = this.#small.splice(0);
    const bytes = this.#smallBytes;
    this.#smallBytes = 0;
    return asOne(pieces, bytes);
  }

  /** What comes next is not joined to these. */
  #endJoined(): void {
    if (this.#joined.length > 0) {
      if (this.#small.length > 0) this.#joined.add(this.#takeSmall());
      this.#pieces.push(this.#joined.bytes);
      this.#joined.clear();
    } else if (this.#small.length > 0) this.#pieces.push(this.#takeSmall());
  }
}

function asOne(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : joined(pieces, bytes);
}
