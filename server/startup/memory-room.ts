import { totalmem } from "node:os";
import { memoryLimitBytes } from "../machine/memory-limit.ts";
import { sizeText } from "./size.ts";

/** The rest is for the operating system, which has files of pages in its memory, for origins, and for two servers in an upgrade. */
const SHARE = 1 / 4;
const MEBIBYTE = 1024 ** 2;
/** What a worker takes beside its pages: V8 and malloc keep what a flood of misses needed. */
const BESIDE_PAGES = 384 * MEBIBYTE;
/** As an isolate has it on other platforms. */
const LEAST_FOR_PAGES = 32 * MEBIBYTE;

/** The memory that the server may use, in bytes: the machine's, or the container's. */
export function usableMemoryBytes(totalBytes = totalmem(), limitBytes = memoryLimitBytes()): number {
  return Math.min(totalBytes, limitBytes);
}

/**
 * The memory for pages where the owner names none, in bytes: a quarter, or what the workers leave if that is less, down to
 * the least for each.
 */
export function defaultMemoryBytes(workers: number, usable = usableMemoryBytes()): number {
  const left = Math.max(usable - workers * BESIDE_PAGES, workers * LEAST_FOR_PAGES);
  return Math.floor(Math.min(usable * SHARE, left) / MEBIBYTE) * MEBIBYTE;
}

/** The number of workers where the owner names none: one for each core, if the memory suffices for so many. */
export function defaultWorkers(memoryBytes: number, cores: number, usable = usableMemoryBytes()): number {
  return Math.max(1, Math.min(cores, Math.floor((usable - memoryBytes) / BESIDE_PAGES)));
}

/** What the owner should know if the workers may take more memory than there is; `null` if it is enough. */
export function whyLittleMemory(memoryBytes: number, workers: number, usable = usableMemoryBytes()): string | null {
  const needed = memoryBytes + workers * BESIDE_PAGES;
  if (needed <= usable) return null;
  const isSmall = usable < BESIDE_PAGES + LEAST_FOR_PAGES;
  const advice = isSmall
    ? "too little even for one worker; provide more memory"
    : "set smaller ones or provide more memory";
  return (
    `--workers ${workers} and --memory ${sizeText(memoryBytes)} may take ${sizeText(needed)}, but only ${sizeText(usable)} ` +
    `may be used here: ${advice}, or the system may kill workers`
  );
}
