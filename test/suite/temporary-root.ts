import { existsSync } from "node:fs";
import { tmpdir } from "node:os";

const IN_MEMORY = "/dev/shm";

/** Where folders for a short time are made: in memory, if the system can. A busy disk takes milliseconds for each. */
export const TEMPORARY_ROOT = existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir();
