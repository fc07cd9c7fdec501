import { nearestName } from "./unknown-key.ts";

const OF_BOTH = ["TIDEMARK_TOKEN", "TIDEMARK_TOKENS", "TIDEMARK_ORIGIN", "TIDEMARK_HOSTS", "TIDEMARK_PUBLIC_URL"];

/** The variables that the edge reads on Workers. */
export const WORKERS_VARIABLES: readonly string[] = [...OF_BOTH, "TIDEMARK_ANALYTICS", "TIDEMARK_CLIENT_ADDRESS"];

/** The variables that a server reads. */
export const SERVER_VARIABLES: readonly string[] = [
  ...OF_BOTH,
  "TIDEMARK_CONFIG",
  "TIDEMARK_PARENT",
  "TIDEMARK_LOG",
  "TIDEMARK_PARENT_TOKEN",
];

/** The variables of the edge, and of the commands and clients. */
export const KNOWN_VARIABLES: readonly string[] = [
  ...new Set([...WORKERS_VARIABLES, ...SERVER_VARIABLES]),
  "TIDEMARK_ENDPOINT",
  "TIDEMARK_BASE_PATH",
  "TIDEMARK_PORT",
];

const PREFIX = "TIDEMARK_";

/** A variable with the prefix of this package's, which nothing of it reads. */
export interface UnknownVariable {
  readonly name: string;
  /** The variable that was probably meant; `null` if the name is like none that is read, and perhaps the owner's own. */
  readonly meant: string | null;
}

/** `read`: the variables that are read of this environment. A name that is like others only is not misspelt. */
export function unknownVariables(
  environment: Readonly<Record<string, unknown>>,
  read: readonly string[],
): UnknownVariable[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !KNOWN_VARIABLES.includes(name))
    .map((name) => ({ name, meant: nearestName(name, read, mostDifference(name)) }));
}

/** Short names are like each other by chance: TIDEMARK_TAG is no TIDEMARK_LOG. */
function mostDifference(name: string): number {
  return name.length - PREFIX.length < 4 ? 1 : 2;
}

export function unknownVariableText({ name, meant }: UnknownVariable): string {
  return `${name}: unknown variable${meant === null ? "" : `; did you mean ${meant}?`}`;
}
