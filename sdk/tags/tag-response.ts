import { DEFAULT_MAX_RESPONSE_FIELD_BYTES, DEFAULT_MAX_TAGS, TAG_FIELD } from "../../wire/fields.ts";
import { type ItemList, itemsOf } from "../purge-request.ts";
import { changeFields } from "./changing-fields.ts";
import { checkTag } from "./define-tags.ts";

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

/** Limits of the edge, for sites that set their own. */
export interface TagLimits {
  /** The most tags of one response: the site's `limits.tags`. Default: 1000. */
  maxTags?: number | undefined;
  /** The most bytes that the field may have: less than the site's `limits.responseFieldBytes`. Default: 65536. */
  maxFieldBytes?: number | undefined;
}

/**
 * Adds tags to a response of the backend, so that it can be purged by them later: one by one, or in lists and sets.
 * They are added to the field `Cache-Tag`, each once. Without tags nothing changes. Returns the response.
 *
 * A tag is printable ASCII without spaces and commas, at most 256 bytes. The edge does not store a response with an
 * invalid tag or with too many, because it could not be purged by all of them; so this throws a `TypeError` that names
 * the first tag that is not valid, or the limit, and then writes none of them.
 */
export function tagResponse<T extends HeadersLike | ResponseLike | ServerResponseLike>(
  response: T,
  ...args: (string | ItemList<string>)[] | [...tags: (string | ItemList<string>)[], limits: TagLimits]
): T {
  const last = args.at(-1);
  const limits = isLimits(last) ? last : {};
  const tags = itemsOf((isLimits(last) ? args.slice(0, -1) : args) as (string | ItemList<string>)[]);
  for (const tag of tags) checkTag("tagResponse", tag);
  if (tags.length === 0) return response;
  if (isServerResponse(response)) {
    response.setHeader(TAG_FIELD, merged(response.getHeader(TAG_FIELD), tags, limits));
    return response;
  }
  const headers = (response as Partial<ResponseLike> | undefined)?.headers ?? response;
  if (!isHeaders(headers)) {
    throw new TypeError(
      "tagResponse: the first argument must be a Headers, a Response or Node's ServerResponse (in Koa ctx.res, in Hono c.res, in Fastify reply.raw)",
    );
  }
  const field = merged(headers.get(TAG_FIELD), tags, limits);
  changeFields("tagResponse", () => headers.set(TAG_FIELD, field));
  return response;
}

function isLimits(value: unknown): value is TagLimits {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value);
}

function merged(
  field: number | string | string[] | null | undefined,
  tags: readonly string[],
  { maxTags = DEFAULT_MAX_TAGS, maxFieldBytes = DEFAULT_MAX_RESPONSE_FIELD_BYTES }: TagLimits,
): string {
  const held = [field ?? []]
    .flat()
    .join(",")
    .split(/[\s,]+/);
  const all = [...new Set([...held, ...tags])].filter((tag) => tag !== "");
  if (all.length > maxTags) {
    throw new TypeError(
      `tagResponse: the response would have ${all.length} tags, and the edge stores none with more than ${maxTags} ` +
        "(limits.tags). If the page is a list, use one tag for the list. If the site's limit is higher, give it as maxTags.",
    );
  }
  const text = all.join(",");
  if (text.length > maxFieldBytes) {
    throw new TypeError(
      `tagResponse: the field would have ${text.length} bytes, and the edge answers 502 if the fields of a response have ` +
        `more than ${maxFieldBytes} (limits.responseFieldBytes). Use shorter tags. If the site's limit is higher, give it as maxFieldBytes.`,
    );
  }
  return text;
}

function isServerResponse(response: object): response is ServerResponseLike {
  return has(response, "getHeader") && has(response, "setHeader");
}

/**
 * It also requires `append` and `delete`, because the contexts of frameworks have a `get` and a `set` with another
 * meaning.
 */
export function isHeaders(headers: unknown): headers is HeadersLike {
  return ["get", "set", "append", "delete"].every((method) => has(headers, method));
}

function has(target: unknown, method: string): boolean {
  return typeof (target as Record<string, unknown> | undefined)?.[method] === "function";
}
