/** A process that drains a file's outbox once it is told to, and tells its parent of each purge that it sends. */
import { DatabaseSync } from "node:sqlite";
import { createOutbox } from "../../../sdk/outbox/sqlite.ts";

const database = new DatabaseSync(process.argv[2]!);
const outbox = createOutbox({
  database,
  purger: {
    async purge({ id, tags }) {
      process.send!({ id, tag: tags![0] });
    },
  },
});

process.once("message", async () => {
  await outbox.drain();
  database.close();
  process.disconnect!();
});
process.send!("ready");
