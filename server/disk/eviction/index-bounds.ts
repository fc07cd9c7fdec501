import { getHeapStatistics } from "node:v8";

/** A file in the index takes about 200 bytes of the heap, and for a moment twice as many when a table grows. */
const HEAP_BYTES_PER_FILE = 512;
/** A `Map` has no room for more than 2^24. */
const MOST_FILES = 2 ** 24 - 1;
/** The most counters of the sketch: enough for some million files. */
const MOST_SKETCH_SLOTS = 1 << 22;
/** An index with room for fewer files has this many counters per file, so that two files rarely share one. */
const SKETCH_SLOTS_PER_FILE = 4;

/** The files for which the heap of this process has room: 8 million with 4 GiB. */
export function mostFiles(): number {
  return Math.min(Math.floor(getHeapStatistics().heap_size_limit / HEAP_BYTES_PER_FILE), MOST_FILES);
}

/** How many counters the sketch of an index of so many files has: a power of two. */
export function sketchSlots(maxFiles: number): number {
  return Math.min(2 ** Math.ceil(Math.log2(maxFiles * SKETCH_SLOTS_PER_FILE)), MOST_SKETCH_SLOTS);
}
