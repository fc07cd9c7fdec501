import { randomUUID } from "node:crypto";
import { LogFile } from "../../../server/log/log-file.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { purge } from "../../purges/log/a-purge.ts";

/** Opens the log in a folder, and purges until it is killed. It prints the number of each purge. */
const file = new LogFile({
  folder: process.argv[2]!,
  clocks: systemClock,
  newId: randomUUID,
  grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
  onReplaced: (why) => {
    throw new Error(why);
  },
});
process.stdout.write("open\n");
for (;;) {
  const { seq } = file.use((log) => log.append(purge([`#${Math.random()}`]))) as { readonly seq: number };
  file.noteHead();
  process.stdout.write(`${seq}\n`);
}
