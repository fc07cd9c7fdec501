import type { OriginPermits } from "../../ports/origin-permits.ts";

/** The permits of an isolate that shares them with no other. */
export class OwnPermits implements OriginPermits {
  onFree: () => void = () => undefined;
  onBrought: OriginPermits["onBrought"] = () => undefined;
  readonly #concurrency: number;
  #taken = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  take(): boolean {
    if (this.#taken >= this.#concurrency) return false;
    this.#taken++;
    return true;
  }

  giveBack(): void {
    this.#taken--;
    this.onFree();
  }
}
