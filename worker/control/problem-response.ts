import { PROBLEM_CODES, PROBLEM_MEDIA_TYPE, type Problem, type ProblemCode } from "../../wire/problem.ts";

/** A refusal as RFC 9457 problem details. `fields` are further fields of the response, `Allow` for instance. */
export function problemResponse(
  code: ProblemCode,
  detail: string,
  errors: Problem["errors"] = undefined,
  fields: Record<string, string> = {},
): Response {
  const { status, title } = PROBLEM_CODES[code];
  const problem: Problem = { type: `urn:tidemark:problem:${code}`, title, status, code, detail };
  if (errors) problem.errors = errors;
  return new Response(`${JSON.stringify(problem)}\n`, {
    status,
    headers: { "content-type": PROBLEM_MEDIA_TYPE, ...fields },
  });
}

/** The refusal of a path that the control plane does not have. */
export function nothingAt(path: string): Response {
  return problemResponse("not-found", `Tidemark has nothing at ${path}. /_tidemark/openapi.json lists its paths.`);
}
