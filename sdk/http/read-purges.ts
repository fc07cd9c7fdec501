import { CONTROL_PREFIX } from "../../wire/fields.ts";
import { problemSchema } from "../../wire/problem.ts";
import { type PurgeRecordPageBody, purgeRecordPageSchema } from "../../wire/purge-record.ts";
import { PurgeForbidden, PurgeUnreachable } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { AnswerHead } from "./answer.ts";
import { incomplete, refusal, unexpected, unreachable } from "./failures.ts";

export type { PurgeRecordPageBody as PurgeRecordPage } from "../../wire/purge-record.ts";

/** One purge by its number, or the newest ones; with `before`, the newest of those whose number is lower. */
export type PurgesQuery =
  | { readonly seq: number }
  | { readonly before: number | undefined; readonly limit: number | undefined };

/**
 * Reads the audit trail with one request. Resolves to `null` for a number that the log does not know; rejects with a
 * `PurgeError`.
 */
export async function readPurges(
  { endpoint, token }: Settings,
  query: PurgesQuery,
  signal: AbortSignal,
): Promise<PurgeRecordPageBody | null> {
  const headers = { accept: "application/json, application/problem+json", authorization: `Bearer ${token}` };
  let answer: Response;
  try {
    answer = await fetch(endpoint + pathOf(query), { headers, redirect: "manual", signal });
  } catch (cause) {
    throw unreachable(endpoint, 1, cause);
  }
  const head = { endpoint, status: answer.status, headers: answer.headers, attempts: 1 };
  let json: unknown;
  try {
    json = parseJson(await answer.text());
  } catch (cause) {
    throw incomplete(head, cause);
  }
  if (answer.status === 200) return readPage(json, query, head);
  const problem = problemSchema.safeParse(json);
  if (!problem.success) throw unexpected(head, "with something that is not a problem report", problem.error);
  const { status } = answer;
  if (status === 404 && "seq" in query) return null;
  if (status === 403) {
    throw new PurgeForbidden(
      `The edge at ${endpoint} knows the token, but the token may not read (403). Use a token with the scope read.`,
      { attempts: 1, cause: problem.data },
    );
  }
  if (status >= 500) {
    throw new PurgeUnreachable(
      `The edge at ${endpoint} cannot read its purge log at the moment (${status}). Try again later; if this does not ` +
        "end, look at the edge's log.",
      { code: "unavailable", status, retryable: true, attempts: 1, cause: problem.data },
    );
  }
  throw refusal(head, problem.data);
}

function pathOf(query: PurgesQuery): string {
  if ("seq" in query) return `${CONTROL_PREFIX}purges/${query.seq}`;
  const search = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return `${CONTROL_PREFIX}purges${search.length > 0 ? "?" : ""}${search.join("&")}`;
}

function readPage(json: unknown, query: PurgesQuery, head: AnswerHead): PurgeRecordPageBody {
  const page = "seq" in query ? { purges: [json], next: null } : json;
  const parsed = purgeRecordPageSchema.safeParse(page);
  if (!parsed.success) throw unexpected(head, "with JSON that is not an audit trail", parsed.error);
  return parsed.data;
}

/** `undefined` if the text is not JSON; no schema accepts that. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
