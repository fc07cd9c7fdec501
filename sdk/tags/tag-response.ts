import { TAG_FIELD } from "../../wire/fields.ts";
import { purgeRequestSchema } from "../../wire/purge-request.ts";
import { shown } from "../errors.ts";

/** The methods of `Headers` that are used, on any platform. */
export interface HeadersLike {
  get(name: string): string | null;
  set(name: string, value: string): void;
  append(name: string, value: string): void;
  delete(name: string): void;
}

/** A `Response`, or another object with `headers`. */
export interface ResponseLike {
  readonly headers: HeadersLike;
}

/** Node's `ServerResponse`, which Express's response is, too. */
export interface ServerResponseLike {
  getHeader(name: string): number | string | string[] | undefined;
  setHeader(name: string, value: string): unknown;
}

/**
 * Adds tags to a response of the backend, so that it can be purged by them later. They are written into the field
 * `Cache-Tag`, beside the tags that stand there already and each of them once. An empty list changes nothing. Returns
 * the response.
 *
 * A tag is printable ASCII without spaces and commas, at most 256 bytes. Throws a `TypeError` that names the first tag
 * that is not valid, and then writes none of them.
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
      "tagResponse: the first argument must be a Headers, a Response or Node's ServerResponse (in Koa ctx.res, in Hono c.res, in Fastify reply.raw)",
    );
  }
  headers.set(TAG_FIELD, merged(headers.get(TAG_FIELD), tags));
  return response;
}

function checkTags(tags: readonly string[]): void {
  if (!Array.isArray(tags)) throw new TypeError("tagResponse: tags must be an array of strings");
  for (const tag of tags) {
    const issue = purgeRequestSchema.shape.tags.safeParse([tag]).error?.issues[0];
    if (issue) throw new TypeError(`tagResponse: ${shown(tag)} is not a valid tag: ${issue.message}`);
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

/** It asks for `append` and `delete`, too, because the contexts of frameworks have a `get` and a `set` of another meaning. */
function isHeaders(headers: unknown): headers is HeadersLike {
  return ["get", "set", "append", "delete"].every((method) => has(headers, method));
}

function has(target: unknown, method: string): boolean {
  return typeof (target as Record<string, unknown> | undefined)?.[method] === "function";
}
