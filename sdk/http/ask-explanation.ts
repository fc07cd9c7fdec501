import { type Explanation, explanationSchema } from "../../wire/explanation.ts";
import { CONTROL_PREFIX } from "../../wire/fields.ts";
import { problemSchema } from "../../wire/problem-schema.ts";
import { WITHOUT_VALUES } from "../check.ts";
import { type PurgeError, PurgeTimeout } from "../errors.ts";
import type { Settings } from "../options.ts";
import { jsonOrUndefined, MAX_ANSWER_BYTES, readBody } from "./answer.ts";
import { brokenOff, rateLimited, refusedRead, serverError, unexpected, unreachable } from "./failures.ts";
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
  { endpoint, token }: Settings,
): Promise<Explanation> {
  const transport = openUndici();
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const failed = (cause: unknown, otherwise: PurgeError) =>
    signal.aborted ? new PurgeTimeout(`No answer from ${endpoint}.`, { attempts: 1, cause }) : otherwise;
  try {
    const answer = await transport
      .fetch(`${endpoint}${CONTROL_PREFIX}explain`, {
        method: "POST",
        headers: {
          accept: "application/json, application/problem+json",
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ url, method, fields }),
        redirect: "manual",
        signal,
      })
      .catch((cause: unknown) => {
        throw failed(cause, unreachable(endpoint, 1, cause));
      });
    const head = { endpoint, status: answer.status, headers: answer.headers, attempts: 1 };
    const body = await readBody(answer.body, MAX_ANSWER_BYTES);
    if (body.kind === "too-long") throw unexpected(head, `with more than ${MAX_ANSWER_BYTES} bytes`, undefined);
    if (body.kind === "cut-off") throw failed(body.cause, brokenOff(head, body.cause));
    const json = jsonOrUndefined(body.text);
    if (head.status === 429) throw rateLimited(head);
    if (head.status === 200) {
      const parsed = explanationSchema.safeParse(json, WITHOUT_VALUES);
      if (parsed.success) return parsed.data;
      throw unexpected(head, "with something that is not an explanation", parsed.error);
    }
    if (head.status >= 500) throw serverError(head, json);
    const problem = problemSchema.safeParse(json, WITHOUT_VALUES);
    if (!problem.success) throw unexpected(head, "with something that is not a problem report", problem.error);
    throw refusedRead(head, problem.data, "the request to explain");
  } finally {
    await transport.close();
  }
}
