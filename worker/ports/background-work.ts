/** Work that continues after the answer. The runtime keeps the request alive for it. */
export interface BackgroundWork {
  run(work: Promise<unknown>): void;
}
