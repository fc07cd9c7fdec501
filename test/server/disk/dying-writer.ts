/**
 * A process that puts entries and a body, and dies in the middle of a call to the file system: after half of a write, or
 * just before or after any other call. Its arguments: the folder, the number of the call, the round, which is in all that it
 * writes, and whether the call is one of the process itself or of the thread that writes small files, as in production.
 */

import { fileURLToPath } from "node:url";
import { makePipe } from "../../../server/bodies/pipe.ts";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { type DiskFiles, diskFiles } from "../../../server/disk/disk-files.ts";
import { DiskTier } from "../../../server/disk/disk-tier.ts";
import { Janitor } from "../../../server/disk/eviction/janitor.ts";
import { WriterThread } from "../../../server/disk/file-writer.ts";
import { storedHead } from "../../rules/storing/stored-head.ts";
import { bodyText, entryKey, pageText } from "./dying-writer-texts.ts";

const [path, lastCall, round, where] = process.argv.slice(2);
const isInThread = where === "thread";
if (isInThread) process.env.DIES_AT = lastCall;
let left = isInThread ? Number.POSITIVE_INFINITY : Number(lastCall);
const isLast = () => left-- === 0;
const die = () => process.kill(process.pid, "SIGKILL");

function dyingAround<K extends "open" | "rename" | "unlink">(call: K): DiskFiles[K] {
  return (async (...args: never[]) => {
    if (isLast()) die();
    const result = await (diskFiles[call] as (...args: never[]) => Promise<unknown>)(...args);
    if (isLast()) die();
    return result;
  }) as DiskFiles[K];
}

const files: DiskFiles = {
  ...diskFiles,
  open: dyingAround("open"),
  rename: dyingAround("rename"),
  unlink: dyingAround("unlink"),
  write: async (fd, bytes, position) => {
    if (isLast()) {
      await diskFiles.write(fd, bytes.subarray(0, bytes.byteLength >> 1), position);
      die();
    }
    return diskFiles.write(fd, bytes, position);
  },
};

const folder = CacheFolder.open(path!);
const janitor = new Janitor(folder, 1024 ** 3, { files }); // which grants room for many files at once
await janitor.scan();
const writer = new WriterThread(folder, fileURLToPath(new URL("dying-thread.ts", import.meta.url)));
const tier = new DiskTier({
  ...{ folder, janitor: janitor.connect(), now: () => 0, say: console.error, files },
  ...(isInThread && { writer }),
});
const key = entryKey(Number(round) % 3);
const bytes = new Uint8Array(Buffer.from(pageText(round!)));
const pipe = makePipe(null);
const body = bodyText(round!);
const putBody = tier.putBody(`${key}\n${round}`, pipe.readable);
await pipe.writable.write(Buffer.from(body.slice(0, 1000)));
await pipe.writable.write(Buffer.from(body.slice(1000)));
await pipe.writable.close();
await putBody;
const put = async (each: string) => {
  if (isInThread) await tier.get(each); // What is missing is put in a batch.
  const head = storedHead({ key: each, bodyBytes: bytes.byteLength, fetchedAt: Number(round) });
  await tier.put({ head, body: bytes });
};
await Promise.all([put(key), ...(isInThread ? [put(entryKey((Number(round) + 1) % 3))] : [])]);
await tier.delete(key);
await put(key);
await tier.settled();
console.log("survived");
