/**
 * A worker process that writes and reads as fast as it can, with the janitor in its parent. Its arguments: the folder,
 * the number of the writer, and how many pages it puts.
 */
import { makePipe } from "../../../server/bodies/pipe.ts";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { DiskTier } from "../../../server/disk/disk-tier.ts";
import { janitorBehind } from "../../../server/disk/eviction/janitor-service.ts";
import { LineToSupervisor, type ServiceAnswer } from "../../../server/supervisor/process-line.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { storedHead } from "../../rules/storing/stored-head.ts";

const [path, writer, pages] = process.argv.slice(2);
const line = new LineToSupervisor((message) => process.send!(message), systemClock);
process.on("message", (answer: ServiceAnswer) => line.take(answer));
const janitor = janitorBehind(line);
const folder = CacheFolder.open(path!);
const tier = new DiskTier({ folder, janitor, now: Date.now, say: console.error });
for (let at = 0; at < Number(pages); at += 10) {
  const puts = Array.from({ length: 10 }, async (_, offset) => {
    const key = `https://www.example.test/${writer}/${at + offset}`;
    if (offset > 0) {
      const body = new Uint8Array(20_000).fill(at);
      return tier.put({ head: storedHead({ key, bodyBytes: body.byteLength }), body });
    }
    const pipe = makePipe(null);
    const stored = tier.putBody(`${key}\n1`, pipe.readable).catch(() => undefined);
    for (let piece = 0; piece < 8; piece++) await pipe.writable.write(new Uint8Array(60_000)).catch(() => undefined);
    await pipe.writable.close();
    return stored;
  });
  await Promise.all(puts);
}
await tier.end();
process.disconnect();
