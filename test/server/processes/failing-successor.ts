import { Predecessor } from "../../../server/processes/upgrade.ts";

/** A new server that fails at a step, or takes over and does nothing (`never`): `node failing-successor.ts STEP`. */
const [step] = process.argv.slice(2);
const predecessor = Predecessor.find()!;
if (step === "before") process.exit(7);
await predecessor.takeOver();
if (step === "with the log") process.exit(7);
predecessor.tellLogIsOpen();
if (step !== "never") process.exit(7);
predecessor.follow(
  () => undefined,
  () => process.exit(),
);
predecessor.tellIsListening();
