/** A setup file: notes in each test file's metadata the CPU time of its process and of the processes that it started. */
import { afterAll } from "vitest";
import { cpuSeconds } from "./cpu-seconds.ts";

declare module "vitest" {
  interface TaskMeta {
    cpuSeconds?: number;
  }
}

const before = cpuSeconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern that the hook needs no fixture
afterAll(({}, file) => {
  file.meta.cpuSeconds = cpuSeconds() - before;
});
