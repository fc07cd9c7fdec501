import type { Stamp } from "../storing/stored-response.ts";

/** The position in a receipt's token: its bearer must be answered from a view that has read at least this far. */
export interface ReceiptToken extends Stamp {
  /**
   * True for the position of another cache: an entry that does not reach it must not answer, even if the log does not
   * have that number yet. Default: false.
   */
  readonly isBinding?: boolean;
}

/** The token of a receipt: the log's id and the purge's number. */
export function writeReceiptToken({ logId, seq }: Stamp): string {
  return `${logId}.${seq}`;
}

/** Reads a token that a client sent; `null`, so that it is ignored, for anything else. */
export function readReceiptToken(text: string | null): Stamp | null {
  const parts = text === null ? null : /^([A-Za-z0-9-]{1,64})\.([1-9][0-9]{0,14})$/.exec(text);
  return parts ? { logId: parts[1]!, seq: Number(parts[2]) } : null;
}
