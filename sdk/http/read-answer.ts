import { problemSchema } from "../../wire/problem-schema.ts";
import { purgeReceiptSchema } from "../../wire/purge-receipt.ts";
import { WITHOUT_VALUES } from "../check.ts";
import type { PurgeError } from "../errors.ts";
import type { ReceiptBody } from "../receipt.ts";
import { type Answer, type AnswerHead, isUnavailable } from "./answer.ts";
import { failed, type Outcome } from "./attempts.ts";
import { incomplete, rateLimited, refusal, serverError, tooLarge, unavailable, unexpected } from "./failures.ts";

/**
 * Decides what the answer to a purge means. A 413, a 429 and the statuses of `isUnavailable` count even if a proxy in front
 * of the edge sent them; any other status counts only with a body that an edge writes.
 */
export function readAnswer(answer: Answer): Outcome<ReceiptBody> {
  const { status } = answer;
  if (status === 429) return failed(rateLimited(answer));
  if (isUnavailable(status)) return failed(unavailable(answer));
  // A browser shows a redirect that it did not follow as status 0.
  if (status === 0 || (status >= 300 && status <= 399)) return failed(redirected(answer));

  const json = parseJson(answer.text);
  if (json.kind === "invalid") return failed(notJson(answer, json.cause));
  if (status === 200) return readReceipt(answer, json.value);
  const problem = problemSchema.safeParse(json.value, WITHOUT_VALUES);
  if (status >= 500) return failed(serverError(answer, problem.data));
  if (!problem.success && status === 413) return failed(tooLarge(answer));
  if (!problem.success) return failed(unexpected(answer, "with JSON that is not a problem report", problem.error));
  return failed(refusal(answer, problem.data));
}

function readReceipt(answer: Answer, json: unknown): Outcome<ReceiptBody> {
  const parsed = purgeReceiptSchema.safeParse(json, WITHOUT_VALUES);
  if (parsed.success) return { kind: "done", value: parsed.data };
  return failed(unexpected(answer, "with JSON that is not a receipt", parsed.error));
}

function redirected(answer: AnswerHead): PurgeError {
  const target = URL.parse(answer.headers.get("location") ?? "", answer.endpoint);
  return unexpected(answer, target ? `with a redirect to ${target.origin}` : "with a redirect", undefined);
}

function notJson(answer: Answer, cause: unknown): PurgeError {
  const mediaType = (answer.headers.get("content-type")?.split(";")[0] ?? "").trim().toLowerCase();
  if (answer.status >= 500) return serverError(answer, cause);
  if (answer.status === 413) return tooLarge(answer);
  // A JSON body that does not parse was cut off: a worker can end half a body as if it were whole.
  if (/[/+]json$/.test(mediaType)) return incomplete(answer, cause);
  return unexpected(answer, `with ${mediaType || "a body without a type"}`, cause);
}

type Json = { kind: "valid"; value: unknown } | { kind: "invalid"; cause: unknown };

function parseJson(text: string): Json {
  try {
    return { kind: "valid", value: JSON.parse(text) };
  } catch (cause) {
    return { kind: "invalid", cause };
  }
}
