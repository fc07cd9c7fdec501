import type { NodeBody } from "../../server/bodies/node-body.ts";
import type { BodyReader } from "../../worker/ports/bodies.ts";

/** How a body comes. */
export interface Delivery {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Resolves when its second part has come; rejects if that never does. `null`: all of it is here. */
  readonly rest: (() => Promise<void>) | null;
  /** Whether what comes after the first part is in several pieces, too. Default: false. */
  readonly isInSmallPieces?: boolean;
  /** Called when all of it has been read, its rest never comes, or it is cancelled. */
  readonly onOver?: () => void;
}

/** All of them have this length. */
export function textOfFetch(number: number): string {
  return `fetch ${String(number).padStart(4)} whole`;
}

/** A first part, which comes at once. */
const FIRST_BYTES = 5;

/** A body of which all is here. */
export function wholeBody(bytes: Uint8Array<ArrayBuffer>): NodeBody {
  return originBody({ bytes, rest: null });
}

/** A body of the origin: whole, late, or cut off. */
export function originBody({ bytes, rest, isInSmallPieces = false, onOver = () => undefined }: Delivery): NodeBody {
  const { byteLength } = bytes;
  let at = 0;
  const cancel = async () => onOver();
  const takeWhole = () => {
    onOver();
    return bytes;
  };
  const reader: BodyReader = {
    next: async () => {
      if (at === byteLength) return null;
      const from = at;
      try {
        if (from === FIRST_BYTES) await rest?.();
      } catch (cause) {
        onOver();
        throw cause;
      }
      at = from === 0 || isInSmallPieces ? Math.min(from + FIRST_BYTES, byteLength) : byteLength;
      if (at === byteLength) onOver();
      return bytes.slice(from, at);
    },
    cancel,
  };
  return {
    lengthBytes: byteLength,
    read: () => reader,
    cancel,
    ...(rest === null && { takeWhole }),
  };
}
