import { Predecessor } from "../../../server/processes/upgrade.ts";

/** A new server that fails at a step: `node failing-successor.ts STEP`. */
const [step] = process.argv.slice(2);
const predecessor = Predecessor.find()!;
if (step === "before") process.exit(7);
await predecessor.takeOver();
if (step === "with the log") process.exit(7);
predecessor.tellLogIsOpen();
process.exit(7);
