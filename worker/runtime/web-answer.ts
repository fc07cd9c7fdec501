import type { Answer } from "../ports/answer.ts";
import type { OriginResponse } from "../ports/origin.ts";
import { Fields } from "../rules/fields/fields.ts";
import { streamOf } from "./web-bodies.ts";

/** The headers of hits, made once per entry and second, because making them would take most of the time of a hit. */
const made = new WeakMap<Fields, Headers>();

/** An answer as the web's class. The body's bytes stay as they are: the runtime must not encode them again. */
export function toWebResponse(answer: Answer | Response): Response {
  if (answer instanceof Response) return answer;
  if (answer.switchedTo !== undefined) return answer.switchedTo as Response;
  const { status, statusText, fields, body } = answer;
  const init = {
    status,
    // The runtime refuses control characters, and has the usual phrase if it gets none.
    ...(/^[ -\uffff]+$/.test(statusText) && { statusText }),
    headers: made.get(fields) ?? makeHeaders(fields),
    encodeBody: "manual",
  } as const;
  return new Response(body instanceof Uint8Array ? body : body && streamOf(body), init);
}

function makeHeaders(fields: Fields): Headers {
  const headers = toWebHeaders(fields);
  made.set(fields, headers);
  return headers;
}

/** Fields as the web's class. In workerd a call per field takes a fifth of the time of a constructor with a list. */
export function toWebHeaders(fields: Iterable<readonly [name: string, value: string]>): Headers {
  const headers = new Headers();
  for (const [name, value] of fields) headers.append(name, value);
  return headers;
}

/** The parts of an origin's answer. */
export function fromWebResponse({ status, statusText, headers, body }: Response): OriginResponse {
  return { status, statusText, fields: Fields.ofHeaders(headers), body };
}
