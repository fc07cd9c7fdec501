/**
 * The thread that writes files, which ends its process in the middle of a call to the file system: after half of a write,
 * or just before or after any other call. `DIES_AT` is the number of the call.
 */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import "../../../server/disk/file-writer-thread.ts";

let left = Number(process.env.DIES_AT);
const isLast = () => left-- === 0;
const die = () => process.kill(process.pid, "SIGKILL");

function dyingAround(call: (...args: never[]) => unknown): never {
  return ((...args: never[]) => {
    if (isLast()) die();
    const result = call(...args);
    if (isLast()) die();
    return result;
  }) as never;
}

const { openSync, writeSync, closeSync, renameSync } = fs;
fs.openSync = dyingAround(openSync);
fs.closeSync = dyingAround(closeSync);
fs.renameSync = dyingAround(renameSync);
fs.writeSync = dyingAround((fd: number, bytes: Uint8Array, at: number, length: number, position?: number) => {
  if (isLast()) {
    writeSync(fd, bytes, at, length >> 1, position);
    die();
  }
  return writeSync(fd, bytes, at, length, position);
});
syncBuiltinESMExports();
