import { type Explanation, explanationSchema } from "../../wire/explanation.ts";
import { CONTROL_PREFIX } from "../../wire/fields.ts";
import { systemClock } from "../clock.ts";
import type { Settings } from "../options.ts";
import { readFromEdge } from "./read-from-edge.ts";
import { openUndici } from "./transport-undici.ts";

/** The request whose answer is to be explained. */
export interface RequestToExplain {
  /** An absolute URL of the site, or a path on the host of the endpoint. */
  readonly url: string;
  readonly method: string;
  readonly fields: Readonly<Record<string, string>>;
}

const DEADLINE_MS = 10_000;

/** Asks the edge once what it would do with a request. Rejects with a `PurgeError`. */
export async function askExplanation(
  { url, method, fields }: RequestToExplain,
  edge: Settings,
  clock = systemClock,
): Promise<Explanation> {
  const transport = openUndici();
  const read = {
    ...edge,
    path: `${CONTROL_PREFIX}explain`,
    body: JSON.stringify({ url, method, fields }),
    schema: explanationSchema,
    name: "an explanation",
    deadlineMs: DEADLINE_MS,
    retries: 0,
    signals: [],
  };
  try {
    return await readFromEdge(read, transport, { clock, random: Math.random });
  } finally {
    await transport.close();
  }
}
