import { Database } from "../../../server/postgres/database.ts";
import { systemClock } from "../../../server/system-clock.ts";

/** A program that listens to the database of its one argument, says so, and closes it when its input ends. */
const [, , url = ""] = process.argv;
const database = await Database.over({ url, clock: systemClock, random: Math.random });
const listening = Promise.withResolvers<void>();
void database.listen({ onListening: listening.resolve, onNotice() {}, onLost() {} });
await listening.promise;
await database.query("SELECT 1");
process.stdout.write("listening\n");
for await (const _ of process.stdin);
await database.close();
