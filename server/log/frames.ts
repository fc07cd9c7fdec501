/**
 * Messages between a worker and the log. A frame holds the length of its text, the length of its words, the text
 * (JSON), and the words. The words are the items of the message's one `ViewDelta`, which are most of its bytes.
 */

/** A purge has at most 4 MiB where it arrives, and escapes can make its text longer; a reply has at most 256 KiB. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

const LEAD_BYTES = 8;
const WORD_BYTES = Uint32Array.BYTES_PER_ELEMENT;
/** The name under which a `ViewDelta` holds its items. */
const ITEMS = "items";

export function writeFrame(message: object): Buffer {
  let words = new Uint32Array(0);
  const text = JSON.stringify(message, (name, value: unknown) => {
    if (name !== ITEMS || !(value instanceof Uint32Array)) return value;
    words = value.slice();
    return null;
  });
  const textBytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(LEAD_BYTES + textBytes + words.byteLength);
  frame.writeUInt32LE(textBytes, 0);
  frame.writeUInt32LE(words.byteLength, 4);
  frame.write(text, LEAD_BYTES);
  frame.set(new Uint8Array(words.buffer), LEAD_BYTES + textBytes);
  return frame;
}

/** Splits the arriving bytes into messages. Throws if the peer breaks the format; the connection is then useless. */
export class FrameReader {
  readonly #take: (message: Readonly<Record<string, unknown>>) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The length of the arriving frame, once it is known. */
  #wanted = 0;

  constructor(take: (message: Readonly<Record<string, unknown>>) => void) {
    this.#take = take;
  }

  read(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.byteLength;
    while (this.#bytes >= Math.max(this.#wanted, LEAD_BYTES)) {
      const held = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
      this.#pieces = [held];
      this.#wanted = LEAD_BYTES + held.readUInt32LE(0) + held.readUInt32LE(4);
      if (this.#wanted > MAX_FRAME_BYTES) throw new Error(`a frame of ${this.#wanted} bytes`);
      if (this.#bytes < this.#wanted) return;
      const frame = held.subarray(0, this.#wanted);
      this.#pieces = this.#bytes > this.#wanted ? [held.subarray(this.#wanted)] : [];
      this.#bytes -= this.#wanted;
      this.#wanted = 0;
      this.#take(readMessage(frame));
    }
  }
}

function readMessage(frame: Buffer): Readonly<Record<string, unknown>> {
  const textEnd = LEAD_BYTES + frame.readUInt32LE(0);
  const bytes = frame.subarray(textEnd);
  if (bytes.byteLength % WORD_BYTES !== 0) throw new Error("a frame with a part of a word");
  const words = new Uint32Array(new Uint8Array(bytes).buffer); // the copy is aligned to words
  const message: unknown = JSON.parse(frame.toString("utf8", LEAD_BYTES, textEnd), (name, value: unknown) =>
    name === ITEMS && value === null ? words : value,
  );
  if (typeof message !== "object" || message === null || Array.isArray(message)) throw new Error("no message");
  return message as Readonly<Record<string, unknown>>;
}
