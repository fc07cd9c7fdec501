const PIECE = "0123456789";

/** A body that is sent in ten pieces of digits, and tells how far it was read. */
export class DigitsInPieces {
  /** Its text, if all ten pieces are sent. */
  static readonly WHOLE = PIECE.repeat(10);
  /** How many pieces are sent before the end. */
  sent = 10;
  /** How many were read, of each stream. */
  readOfEach: number[] = [];
  isCancelled = false;
  /** How many streams have neither ended nor been cancelled. */
  open = 0;
  readonly #piece: string;

  /** `tens`: how often a piece has the ten digits. Default: once. */
  constructor(tens = 1) {
    this.#piece = PIECE.repeat(tens);
  }

  /** The text of all ten pieces. */
  get whole(): string {
    return this.#piece.repeat(10);
  }

  /** How many were read, of all streams. */
  get read(): number {
    return this.readOfEach.reduce((sum, each) => sum + each, 0);
  }

  /** The body from its beginning. */
  stream(): ReadableStream<Uint8Array> {
    let sent = 0;
    this.open++;
    const index = this.readOfEach.push(0) - 1;
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (sent++ === this.sent) {
            this.open--;
            return controller.close();
          }
          this.readOfEach[index]!++;
          controller.enqueue(new TextEncoder().encode(this.#piece));
        },
        cancel: () => {
          this.isCancelled = true;
          this.open--;
        },
      },
      { highWaterMark: 0 },
    );
  }
}
