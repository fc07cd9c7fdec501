import { Predecessor } from "../../../server/supervisor/upgrade.ts";

/** A new server that fails at a step, or takes over and does nothing but to end at SIGHUP (`never`): `node failing-successor.ts STEP`. */
const [step] = process.argv.slice(2);
const predecessor = Predecessor.find()!;
if (step === "before") process.exit(7);
await predecessor.takeOver();
if (step === "with the log") process.exit(7);
predecessor.tellLogIsOpen();
if (step !== "never") process.exit(7);
process.on("SIGHUP", () => process.exit(8));
process.channel?.ref(); // a server has more that keeps it running
predecessor.follow(
  () => undefined,
  () => process.exit(),
);
predecessor.tellIsListening();
