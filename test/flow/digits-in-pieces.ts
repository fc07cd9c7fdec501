const PIECE = "0123456789";

/** A body that is sent in pieces of ten digits, and tells how far it was read. */
export class DigitsInPieces {
  /** Its text, if all ten pieces are sent. */
  static readonly WHOLE = PIECE.repeat(10);
  /** How many pieces are sent before the end. */
  sent = 10;
  /** How many were read, of each stream. */
  readOfEach: number[] = [];
  isCancelled = false;
  /** What holds back the first piece. */
  held: Promise<void> | null = null;

  /** How many were read, of all streams. */
  get read(): number {
    return this.readOfEach.reduce((sum, each) => sum + each, 0);
  }

  /** The body from its beginning. */
  stream(): ReadableStream<Uint8Array> {
    let sent = 0;
    const index = this.readOfEach.push(0) - 1;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          await this.held;
          if (sent++ === this.sent) return controller.close();
          this.readOfEach[index]!++;
          controller.enqueue(new TextEncoder().encode(PIECE));
        },
        cancel: () => {
          this.isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
  }
}
