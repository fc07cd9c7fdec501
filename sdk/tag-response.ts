import { TAG_FIELD } from "../wire/fields.ts";
import { purgeRequestSchema } from "../wire/purge-request.ts";

/** `Headers`, of whichever platform. */
export interface HeadersLike {
  get(name: string): string | null;
  set(name: string, value: string): void;
  append(name: string, value: string): void;
  delete(name: string): void;
}

/** A `Response`, or anything with `headers`. */
export interface ResponseLike {
  readonly headers: HeadersLike;
}

/** Node's `ServerResponse`, and so Express's. */
export interface ServerResponseLike {
  getHeader(name: string): number | string | string[] | undefined;
  setHeader(name: string, value: string): unknown;
}

/**
 * Adds tags to a response of the backend, in the field `Cache-Tag`, by which it can be purged later. Tags that it has
 * already stay, each is written once, and an empty list changes nothing. Returns the response.
 *
 * Throws a `TypeError` that names the tag which is none: a tag is printable ASCII without spaces and commas, at most
 * 256 bytes.
 */
export function tagResponse<T extends HeadersLike | ResponseLike | ServerResponseLike>(
  response: T,
  tags: readonly string[],
): T {
  checkTags(tags);
  if (tags.length === 0) return response;
  if (isServerResponse(response)) {
    response.setHeader(TAG_FIELD, merged(response.getHeader(TAG_FIELD), tags));
    return response;
  }
  const headers = (response as Partial<ResponseLike> | undefined)?.headers ?? response;
  if (!isHeaders(headers)) {
    throw new TypeError(
      "tagResponse: give it a Headers, a Response or Node's ServerResponse (in Koa ctx.res, in Hono c.res, in Fastify reply.raw)",
    );
  }
  headers.set(TAG_FIELD, merged(headers.get(TAG_FIELD), tags));
  return response;
}

function checkTags(tags: readonly string[]): void {
  if (!Array.isArray(tags)) throw new TypeError("tagResponse: tags must be an array of strings");
  for (const tag of tags) {
    const issue = purgeRequestSchema.shape.tags.safeParse([tag]).error?.issues[0];
    if (issue) throw new TypeError(`tagResponse: ${JSON.stringify(tag)} is not a tag: ${issue.message}`);
  }
}

function merged(field: number | string | string[] | null | undefined, tags: readonly string[]): string {
  const held = [field ?? []]
    .flat()
    .join(",")
    .split(/[\s,]+/);
  return [...new Set([...held, ...tags])].filter((tag) => tag !== "").join(",");
}

function isServerResponse(response: object): response is ServerResponseLike {
  return has(response, "getHeader") && has(response, "setHeader");
}

/** With `append` and `delete`, because contexts of frameworks have a `get` and a `set` that mean something else. */
function isHeaders(headers: unknown): headers is HeadersLike {
  return ["get", "set", "append", "delete"].every((method) => has(headers, method));
}

function has(target: unknown, method: string): boolean {
  return typeof (target as Record<string, unknown> | undefined)?.[method] === "function";
}
