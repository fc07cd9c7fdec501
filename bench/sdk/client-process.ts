/**
 * The backend of `npm run bench -- sdk`, in a process of its own: `node --expose-gc client-process.ts ENTRY [ENDPOINT
 * PURGES AT_ONCE]`. It imports the entry, sends the purges if there is an endpoint, and prints one line of JSON.
 */
import type { createPurger as CreatePurger, Receipt } from "../../sdk/index.ts";

const [entry = "", endpoint, purges = "0", atOnce = "1"] = process.argv.slice(2);

const heapBytes = () => {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
};

const before = heapBytes();
const importedAt = performance.now();
const { createPurger } = (await import(entry)) as { createPurger?: typeof CreatePurger };
const importMs = performance.now() - importedAt;
const imported = heapBytes();
const result = { importMs, importBytes: imported - before, sentMs: 0, keptBytes: 0, accepted: 0, failed: "" };

if (endpoint !== undefined && createPurger !== undefined) {
  const purger = createPurger({ endpoint, token: "bench", deadlineMs: 60_000 });
  let next = 0;
  const sender = async () => {
    while (next < Number(purges)) {
      const receipt: Receipt = await purger.purgeTags(`song:${next++}`, "songs");
      if (receipt.seq > 0) result.accepted += 1;
    }
  };
  const startedAt = performance.now();
  const outcomes = await Promise.allSettled(Array.from({ length: Number(atOnce) }, sender));
  result.sentMs = performance.now() - startedAt;
  result.failed = String(outcomes.find(({ status }) => status === "rejected")?.["reason" as never] ?? "");
  result.keptBytes = heapBytes() - imported;
  await purger.close();
}
console.log(JSON.stringify(result));
