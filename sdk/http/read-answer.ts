import type * as z from "zod/mini";
import { problemSchema } from "../../wire/problem-schema.ts";
import { WITHOUT_VALUES } from "../check.ts";
import type { PurgeError } from "../errors.ts";
import { type Answer, type AnswerHead, isUnavailable } from "./answer.ts";
import { failed, type Outcome } from "./attempts.ts";
import { incomplete, rateLimited, refusal, serverError, tooLarge, unavailable, unexpected } from "./failures.ts";

/** What the edge answers if it does as asked. */
export interface Expected<T> {
  readonly schema: z.ZodMiniType<T>;
  /** The name of the result, for messages. */
  readonly name: string;
  /** The result if the edge does not have it. Default: a failure. */
  readonly missing?: T;
}

/**
 * Decides what an answer means. A 413, a 429 and the statuses of `isUnavailable` count even if a proxy in front of the edge
 * sent them; any other status counts only with a body that an edge writes.
 */
export function readAnswer<T>(answer: Answer, { schema, name, missing }: Expected<T>): Outcome<T> {
  const { status } = answer;
  if (status === 429) return failed(rateLimited(answer));
  const json = parseJson(answer.text);
  if (status === 200 && json.kind === "valid") {
    const parsed = schema.safeParse(json.value, WITHOUT_VALUES);
    if (parsed.success) return { kind: "done", value: parsed.data };
    return failed(unexpected(answer, `with JSON that is not ${name}`, parsed.error));
  }
  const problem = problemSchema.safeParse(json.value, WITHOUT_VALUES);
  if (isUnavailable(status)) return failed(unavailable(answer, problem.data));
  // A browser shows a redirect that it did not follow as status 0.
  if (status === 0 || (status >= 300 && status <= 399)) return failed(redirected(answer));
  if (json.kind === "invalid") return failed(notJson(answer, json.cause));
  if (status >= 500) return failed(serverError(answer, problem.data));
  if (!problem.success && isTooLarge(answer)) return failed(tooLarge(answer));
  if (!problem.success) return failed(unexpected(answer, "with JSON that is not a problem report", problem.error));
  if (status === 404 && missing !== undefined) return { kind: "done", value: missing };
  return failed(refusal(answer, problem.data));
}

/** Only a purge can be made smaller. */
function isTooLarge({ status, scope }: AnswerHead): boolean {
  return status === 413 && scope === "purge";
}

function redirected(answer: AnswerHead): PurgeError {
  const target = URL.parse(answer.headers.get("location") ?? "", answer.endpoint);
  return unexpected(answer, target ? `with a redirect to ${target.origin}` : "with a redirect", undefined);
}

function notJson(answer: Answer, cause: unknown): PurgeError {
  const mediaType = (answer.headers.get("content-type")?.split(";")[0] ?? "").trim().toLowerCase();
  if (answer.status >= 500) return serverError(answer, cause);
  if (isTooLarge(answer)) return tooLarge(answer);
  // A JSON body that does not parse was cut off: a worker can end half a body as if it were whole.
  if (/[/+]json$/.test(mediaType)) return incomplete(answer, cause);
  return unexpected(answer, `with ${mediaType || "a body without a type"}`, cause);
}

type Json = { kind: "valid"; value: unknown } | { kind: "invalid"; value?: undefined; cause: unknown };

function parseJson(text: string): Json {
  try {
    return { kind: "valid", value: JSON.parse(text) };
  } catch (cause) {
    return { kind: "invalid", cause };
  }
}
