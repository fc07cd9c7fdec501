import { styleText } from "node:util";
import type { ReadCounts } from "../../tools/logs/log-file.ts";

/** How often the line is written anew. */
const EVERY_MS = 200;

/** A line on standard error that is written over and over, on a terminal alone: a pipe gets nothing. */
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

/** How far the reading of logs is. The size of standard input is not known. */
export function readingText({ bytes, lines, broken }: ReadCounts, allBytes: number, ms: number): string {
  const share = allBytes === 0 ? "" : `${Math.floor((100 * bytes) / allBytes)} %, `;
  const odd = broken === 0 ? "" : `, ${broken.toLocaleString("en")} of them broken`;
  return `${share}${lines.toLocaleString("en")} lines${odd}, ${Math.round((lines / ms) * 1000).toLocaleString("en")} a second`;
}
