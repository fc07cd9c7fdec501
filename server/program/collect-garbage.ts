import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Frees what nobody holds any more. In a process that has little to do, V8 would leave it. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
