/**
 * The warning about a purge before the commit. The edge of `tidemark dev` notices when a purged page is fetched again
 * at once and has not changed. A moment after the purge, the client asks it. No deployed edge sends the field that
 * starts this.
 */

import * as z from "zod/mini";
import { CONTROL_PREFIX, EARLY_PURGES_AFTER_MS, EARLY_PURGES_FIELD } from "../../wire/fields.ts";
import { type AnswerHead, readBody } from "./answer.ts";
import type { Transport } from "./transport.ts";

/** What the warning needs from the platform. */
export interface WarningPlatform {
  /** Does something after a time, without keeping the process running. */
  later(ms: number, work: () => void): void;
  /** Warns the developer. */
  warn(message: string): void;
}

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_NAMED_PAGES = 3;

const earlyPurgesSchema = z.array(
  z.object({
    path: z.string(),
    afterMs: z.number(),
    /** The number of the purge shortly before that brought the page as it is now: both may be for one change. */
    changedFor: z.optional(z.int()),
  }),
);

/** Asks the edge about a purge later, if it offers that, and prints its warnings. Never throws. */
export function watchForEarlyPurge(
  { endpoint, headers }: AnswerHead,
  seq: number,
  transport: Transport,
  platform: WarningPlatform,
): void {
  const path = headers.get(EARLY_PURGES_FIELD);
  if (!path?.startsWith(CONTROL_PREFIX)) return;
  platform.later(EARLY_PURGES_AFTER_MS, () => {
    ask(endpoint + path, transport).then(
      (pages) => {
        if (pages.length > 0) platform.warn(warningOf(seq, pages));
      },
      () => {}, // The edge was stopped, or the purger closed. Without an answer there is no warning.
    );
  });
}

type EarlyPages = z.infer<typeof earlyPurgesSchema>;

async function ask(url: string, transport: Transport): Promise<EarlyPages> {
  const signal = AbortSignal.timeout(EARLY_PURGES_AFTER_MS);
  const answer = await transport.fetch(url, { method: "GET", headers: {}, redirect: "manual", signal });
  const body = await readBody(answer.body, MAX_ANSWER_BYTES);
  const pages = earlyPurgesSchema.parse(body.kind === "whole" ? JSON.parse(body.text) : []);
  return pages.filter(({ changedFor }) => changedFor === undefined);
}

function warningOf(seq: number, pages: EarlyPages): string {
  const more = pages.length - MAX_NAMED_PAGES;
  const named = pages.slice(0, MAX_NAMED_PAGES).map(({ path, afterMs }) => `${path} (${afterMs} ms later)`);
  const [were, they] = pages.length === 1 ? ["was", "it"] : ["were", "they"];
  return (
    `Purge ${seq} may have come before the commit: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""} ` +
    `${were} fetched again after it, unchanged. If ${they} should have changed, the old page is stored again: purge after the ` +
    "transaction has committed. batch() collects until then. If the backend reads from replicas that lag, give the " +
    "purge repeatAfterMs, which purges the same once more."
  );
}
