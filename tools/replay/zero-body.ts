import type { NodeBody } from "#tidemark/internal";

const PIECE_BYTES = 8 * 1024 * 1024;

/** The bytes of every body: a log has their number, not their content. */
const zeros = new Uint8Array(PIECE_BYTES);

/** This many bytes, without extra memory; `null` if there are more than one piece holds. */
export function zeroBytes(count: number): Uint8Array<ArrayBuffer> | null {
  return count <= PIECE_BYTES ? zeros.subarray(0, count) : null;
}

/** A body of this many bytes. */
export class ZeroBody implements NodeBody {
  readonly lengthBytes: number;

  constructor(lengthBytes: number) {
    this.lengthBytes = lengthBytes;
  }

  read(): ReturnType<NodeBody["read"]> {
    let left = this.lengthBytes;
    return {
      next: async () => {
        if (left === 0) return null;
        const piece = zeros.subarray(0, Math.min(left, PIECE_BYTES));
        left -= piece.length;
        return piece;
      },
      cancel: async () => {
        left = 0;
      },
    };
  }

  async cancel(): Promise<void> {}
}
