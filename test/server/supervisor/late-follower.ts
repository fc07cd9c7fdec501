import { once } from "node:events";
import { Predecessor } from "../../../server/supervisor/upgrade.ts";

/** A new server that comes to follow the old one when that has ended, and says so. */
const predecessor = Predecessor.find()!;
await predecessor.takeOver();
process.channel?.ref(); // a server has more that keeps it running
if (process.connected) await once(process, "disconnect");
predecessor.follow(
  () => undefined,
  () => process.stdout.write("gone"),
);
