import { nearestName } from "./unknown-key.ts";

/** The variables of the edge, on Workers and on a server, and of the commands and clients. */
export const KNOWN_VARIABLES: readonly string[] = [
  "TIDEMARK_ANALYTICS",
  "TIDEMARK_TOKEN",
  "TIDEMARK_TOKENS",
  "TIDEMARK_ORIGIN",
  "TIDEMARK_HOSTS",
  "TIDEMARK_PUBLIC_URL",
  "TIDEMARK_CLIENT_ADDRESS",
  "TIDEMARK_CONFIG",
  "TIDEMARK_PARENT",
  "TIDEMARK_LOG",
  "TIDEMARK_PARENT_TOKEN",
  "TIDEMARK_ENDPOINT",
  "TIDEMARK_BASE_PATH",
  "TIDEMARK_PORT",
];

const PREFIX = "TIDEMARK_";

/** A variable with the prefix of this package's, which nothing of it reads. */
export interface UnknownVariable {
  readonly name: string;
  /** The variable that was probably meant; `null` if the name is like none, and perhaps the owner's own. */
  readonly meant: string | null;
}

export function unknownVariables(environment: Readonly<Record<string, unknown>>): UnknownVariable[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !KNOWN_VARIABLES.includes(name))
    .map((name) => ({ name, meant: nearestName(name, KNOWN_VARIABLES, mostDifference(name)) }));
}

/** Short names are like each other by chance: TIDEMARK_TAG is no TIDEMARK_LOG. */
function mostDifference(name: string): number {
  return name.length - PREFIX.length < 4 ? 1 : 2;
}

export function unknownVariableText({ name, meant }: UnknownVariable): string {
  return `${name}: unknown variable${meant === null ? "" : `; did you mean ${meant}?`}`;
}
