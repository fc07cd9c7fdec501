import { styleText } from "node:util";

/** How often the line is rewritten. */
const EVERY_MS = 200;

/** A line on standard error that is rewritten again and again, only on a terminal. */
export class ProgressLine {
  #writtenAt = 0;
  readonly #isOn = process.stderr.isTTY === true;

  /** `text` is called only when the line is written. */
  show(text: () => string): void {
    const now = performance.now();
    if (!this.#isOn || now - this.#writtenAt < EVERY_MS) return;
    this.#writtenAt = now;
    process.stderr.write(`\r\u001b[K${styleText("dim", text(), { stream: process.stderr })}`);
  }

  clear(): void {
    if (this.#isOn && this.#writtenAt > 0) process.stderr.write("\r\u001b[K");
  }
}
