import * as z from "zod/mini";
import { CONTROL_PREFIX } from "../../wire/fields.ts";
import { purgeRecordPageSchema, purgeRecordSchema } from "../../wire/purge-record.ts";
import type { SiteStats } from "../../wire/stats.ts";
import type { Clock } from "../clock.ts";
import { passedDeadline } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { PurgeRecordPage, RecordQuery } from "../purge-record.ts";
import type { StatsQuery } from "../site-stats.ts";
import { askEdge } from "./ask-edge.ts";
import type { CallLimits } from "./attempts.ts";
import { unreachable } from "./failures.ts";
import type { Expected } from "./read-answer.ts";
import type { Transport } from "./transport.ts";

/** A read that is ready to be sent. */
export interface PreparedRead<T> extends Settings, CallLimits, Expected<T> {
  readonly path: string;
  /** JSON, which is sent by POST. Default: a GET. */
  readonly body?: string;
}

/** Reads from the edge: the audit trail, the site's ledger, or an explanation. Rejects with a `PurgeError`. */
export function readFromEdge<T>(
  read: PreparedRead<T>,
  transport: Transport,
  platform: { readonly clock: Clock; random(): number },
): Promise<T> {
  const { endpoint, deadlineMs, path, body } = read;
  return askEdge(
    read,
    {
      path,
      body,
      scope: "read",
      unreachable,
      expected: read,
      resultOf: (result) => result,
      timedOut: (attempts, cause) =>
        passedDeadline(`No answer from ${endpoint} within ${deadlineMs} ms. Try again later`, { attempts, cause }),
    },
    transport,
    platform,
  );
}

type Reading<T> = Pick<PreparedRead<T>, "path" | "schema" | "name" | "missing">;

/** The audit trail: a page of it, or one purge as a page; `null` for the number of a purge that the log does not have. */
export function trailReading(query: RecordQuery): Reading<PurgeRecordPage | null> {
  const name = "an audit trail";
  if (!("seq" in query))
    return { path: `${CONTROL_PREFIX}purges${search(query)}`, schema: purgeRecordPageSchema, name };
  const schema = z.pipe(
    purgeRecordSchema,
    z.transform((record) => ({ purges: [record], next: null })),
  );
  return { path: `${CONTROL_PREFIX}purges/${query.seq}`, schema, name, missing: null };
}

/** One purge; the edge holds its answer for up to this long, until the purge has settled. */
export function heldReading(seq: number, heldMs: number): Reading<PurgeRecordPage | null> {
  const reading = trailReading({ seq });
  return { ...reading, path: `${reading.path}?wait=${heldMs}` };
}

/**
 * The site's ledger. Only its version is checked, because the schema of all its numbers would add 4 KB to every worker
 * that purges.
 */
export function ledgerReading({ last, pop }: Pick<StatsQuery, "last" | "pop">): Reading<SiteStats> {
  return {
    path: `${CONTROL_PREFIX}stats${search({ last, pop })}`,
    schema: siteStats,
    name: "the stats of a site",
  };
}

function search(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return `${given.length > 0 ? "?" : ""}${given.join("&")}`;
}

const siteStats = z.custom<SiteStats>((json) => {
  const { version, scope, requests } = (json ?? {}) as Partial<SiteStats>;
  return version === 1 && scope === "site" && typeof requests === "number";
});
