import { CONTROL_PREFIX } from "../wire/fields.ts";
import { problemSchema } from "../wire/problem.ts";
import { type PurgeRecordPageBody, purgeRecordPageSchema } from "../wire/purge-record.ts";
import type { AnswerHead } from "./answer.ts";
import { incomplete, unexpected, unreachable } from "./no-answer.ts";
import { PurgeForbidden } from "./purge-forbidden.ts";
import { PurgeUnreachable } from "./purge-unreachable.ts";
import { refusal } from "./refusal.ts";
import type { Settings } from "./settings.ts";

export type { PurgeRecordPageBody as PurgeRecordPage } from "../wire/purge-record.ts";

/** One purge by its number, or the newest ones, perhaps only those below a number. */
export type PurgesAsked =
  | { readonly seq: number }
  | { readonly before: number | undefined; readonly limit: number | undefined };

/** Reads the audit trail, once. `null` for a number that the log does not know. Rejects with a `PurgeError`. */
export async function readPurges(
  { endpoint, token }: Settings,
  asked: PurgesAsked,
  signal: AbortSignal,
): Promise<PurgeRecordPageBody | null> {
  const headers = { accept: "application/json, application/problem+json", authorization: `Bearer ${token}` };
  let answer: Response;
  try {
    answer = await fetch(endpoint + addressOf(asked), { headers, redirect: "manual", signal });
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
  if (answer.status === 200) return pageOf(json, asked, head);
  const problem = problemSchema.safeParse(json);
  if (!problem.success) throw unexpected(head, "with something that is not a problem report", problem.error);
  const { status } = answer;
  if (status === 404 && "seq" in asked) return null;
  if (status === 403) {
    throw new PurgeForbidden(
      `The edge at ${endpoint} knows the token, but it may not read (403). Use a token with the scope read.`,
      { attempts: 1, cause: problem.data },
    );
  }
  if (status >= 500) {
    throw new PurgeUnreachable(`The edge at ${endpoint} cannot read its purge log at the moment (${status}).`, {
      code: "unavailable",
      status,
      retryable: true,
      attempts: 1,
      cause: problem.data,
    });
  }
  throw refusal(head, problem.data);
}

function addressOf(asked: PurgesAsked): string {
  if ("seq" in asked) return `${CONTROL_PREFIX}purges/${asked.seq}`;
  const query = Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return `${CONTROL_PREFIX}purges${query.length > 0 ? "?" : ""}${query.join("&")}`;
}

function pageOf(json: unknown, asked: PurgesAsked, head: AnswerHead): PurgeRecordPageBody {
  const page = "seq" in asked ? { purges: [json], next: null } : json;
  const parsed = purgeRecordPageSchema.safeParse(page);
  if (!parsed.success) throw unexpected(head, "with JSON that is no audit trail", parsed.error);
  return parsed.data;
}

/** `undefined` for what is no JSON: no schema takes it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
