// Loaded into a worker under test by `--import`, with `--expose-gc`: SIGUSR2 prints what is alive in it.
let printed = 0;
process.on("SIGUSR2", () => {
  globalThis.gc();
  globalThis.gc(); // buffers that the first one freed are counted off at the latest here
  const { heapUsed, external } = process.memoryUsage();
  printed++;
  console.error(`live memory ${printed}: ${heapUsed + external} bytes`);
});
