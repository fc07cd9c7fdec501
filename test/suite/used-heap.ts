import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The bytes of this process's heap that are still in use after a full collection. */
export function usedHeapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
