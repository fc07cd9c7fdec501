import type { ClientAnswer } from "../../engine/engine.ts";
import { readMultipart } from "../../engine/multipart.ts";
import type { ClientRequest } from "../../engine/scenario.ts";
import { type Given, weakly } from "./origin-record.ts";
import type { Composed } from "./stored-page.ts";

/** Whether the answer is this page, a part of it, or the word that the client holds it. RFC 9110 §13, §14, §15. */
export function objectionToForm(
  answer: ClientAnswer,
  request: ClientRequest,
  { page, confirmed, stored }: Composed,
  record: readonly Given[],
): string | null {
  const { status, fields, body, cutOff } = answer;
  const tags = record.slice(page.number - 1, confirmed.number).map((each) => each.fields.etag);
  if (fields.etag !== undefined && !tags.includes(fields.etag)) return `the tag of another page: ${fields.etag}`;
  // What the origin has answered to the client's own condition is passed on.
  if (status === 304) return page.status === 304 ? null : objectionTo304(stored, request);
  if (fields["content-encoding"] !== page.fields["content-encoding"]) return "another coding than the page's";
  if (status === 206) return objectionToPart(answer, request, page);
  if (status === 416) return /bytes=900/.test(request.fields?.range ?? "") ? null : "416 for a part that there is";
  if (status !== page.status) return `${status} in place of ${page.status}`;
  if (request.method === "HEAD") return body === "" ? null : "a body after HEAD";
  if (cutOff) return page.isCutOff && page.text.startsWith(body) ? null : "a body that broke off";
  return body === page.text ? null : "another body";
}

/** RFC 9110 §13.1.2, §13.1.3, §13.2.2. */
function objectionTo304({ fields: given, at }: Given, { method, fields = {} }: ClientRequest): string | null {
  if (method !== "GET" && method !== "HEAD") return `304 to ${method}`;
  const held = fields["if-none-match"];
  if (held !== undefined)
    return weakly(held) === weakly(given.etag ?? "") ? null : "304 for a tag that the client has not";
  const modified = Date.parse(given["last-modified"] ?? given.date ?? new Date(at).toUTCString());
  return modified <= Date.parse(fields["if-modified-since"] ?? "") ? null : "304 for a date that the client has not";
}

function objectionToPart(answer: ClientAnswer, { method, fields = {} }: ClientRequest, page: Given): string | null {
  if (fields.range === undefined || method !== "GET") return "a part that was not asked for";
  if (page.status !== 200 && page.status !== 206) return `a part of a ${page.status}`;
  const held = fields["if-range"];
  const isHeld = held === undefined || held === answer.fields.etag || held === answer.fields["last-modified"];
  if (!isHeld || held?.startsWith("W/")) return "a part of a page that the client does not hold";
  const { "content-type": type, "content-range": range } = answer.fields;
  if (range !== undefined) return isSlice(range, answer.body, page) ? null : `wrong bytes of ${range}`;
  const parts = readMultipart(type, answer.body);
  if (typeof parts === "string") return parts;
  return parts.every((part) => isSlice(part.contentRange ?? "", part.body, page)) ? null : "wrong bytes of parts";
}

function isSlice(range: string, bytes: string, { text }: Given): boolean {
  const [, first, last, length] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(range) ?? [];
  return Number(length) === text.length && bytes === text.slice(Number(first), Number(last) + 1);
}
