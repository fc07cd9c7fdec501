import * as z from "zod/mini";
import { MAX_TAG_BYTES } from "./fields.ts";

/** The most items, of all kinds together, that one purge may name. */
export const MAX_PURGE_ITEMS = 10_000;

/** The most bytes that the body of a purge may have. 10,000 items of usual length fit into them. */
export const MAX_PURGE_BYTES = 4 * 1024 * 1024;

/** The most URLs that one purge may refresh. */
export const MAX_REFRESH_URLS = 50;

/** The longest time, in milliseconds after a purge was accepted, after which it may be repeated: a day. */
const MAX_REPEAT_AFTER_MS = 86_400_000;

const url = z.string().check(
  z.minLength(1, "a URL cannot be empty; name a path like /about or a whole URL"),
  z.maxLength(16_384, "a URL can have at most 16384 characters"),
  z.refine(
    (text) => text.startsWith("/") || /^https?:\/\//i.test(text),
    "must be a path that starts with /, or a whole URL that starts with http:// or https://",
  ),
  z.refine(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    (text) => !/[\u0000-\u0020\u007f]/.test(text),
    "a URL cannot have a space or a control character; write %20 for a space",
  ),
);

const tag = z
  .string()
  .check(
    z.minLength(1, "a tag cannot be empty"),
    z.maxLength(MAX_TAG_BYTES, `a tag can have at most ${MAX_TAG_BYTES} bytes`),
    z.regex(
      /^[!-+\--~]*$/,
      "a tag must be printable ASCII without spaces or commas, because these separate tags in response fields",
    ),
  );

/** Only the edge can check the rest of a prefix, because it knows the site's hosts. */
const prefix = z
  .string()
  .check(
    z.minLength(1, "a prefix cannot be empty; name one like /shop or www.example.com/shop"),
    z.maxLength(16_384, "a prefix can have at most 16384 characters"),
  );

const host = z
  .string()
  .check(
    z.minLength(1, "a host cannot be empty; name one like www.example.com"),
    z.maxLength(260, "a host can have at most 260 characters"),
  );

/**
 * Why a purge, which need not be checked yet, names too many items; `null` if it does not. The schema looks at each item
 * before it counts them, and fails on more faults than one call of a function may have arguments.
 */
export function tooManyItems(purge: unknown): string | null {
  const { urls, tags, prefixes, hosts } = Object(purge);
  const items = [urls, tags, prefixes, hosts].reduce((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  if (items <= MAX_PURGE_ITEMS) return null;
  return `names ${items} items; one purge can name at most ${MAX_PURGE_ITEMS}, so split it`;
}

const KINDS = ["urls", "tags", "prefixes", "hosts", "everything"] as const;

const NOT_WHOLE_MS = "must be a whole number of milliseconds";

/**
 * The body of `POST /_tidemark/purge`.
 *
 * It must name at least one kind of item, or only `everything`. Unknown fields are refused, because a misspelt kind
 * would otherwise purge less than intended.
 */
export const purgeRequestSchema = z
  .strictObject({
    urls: z.optional(z.array(url).check(z.minLength(1, "name at least one URL, or leave urls out"))),
    tags: z.optional(z.array(tag).check(z.minLength(1, "name at least one tag, or leave tags out"))),
    prefixes: z.optional(z.array(prefix).check(z.minLength(1, "name at least one prefix, or leave prefixes out"))),
    hosts: z.optional(z.array(host).check(z.minLength(1, "name at least one host, or leave hosts out"))),
    everything: z.optional(z.literal(true, "can only be true; otherwise leave it out")),
    mode: z.optional(z.literal(["hard", "soft"], 'must be "hard" or "soft"')),
    dryRun: z.optional(z.boolean()),
    refresh: z.optional(z.boolean()),
    id: z.optional(
      z.string().check(z.regex(/^[!-~]{1,128}$/, "must be 1 to 128 printable ASCII characters without spaces")),
    ),
    repeatAfterMs: z.optional(
      // Not `z.int`, which would add the checks of all kinds of numbers to the worker.
      z
        .number(NOT_WHOLE_MS)
        .check(
          z.refine(Number.isSafeInteger, NOT_WHOLE_MS),
          z.minimum(1, "must be at least 1 millisecond"),
          z.maximum(MAX_REPEAT_AFTER_MS, `must be at most ${MAX_REPEAT_AFTER_MS} milliseconds, a day`),
        ),
    ),
    reason: z.optional(z.string().check(z.maxLength(500, "can have at most 500 characters"))),
  })
  .check(
    z.check(({ value: purge, issues }) => {
      const find = (path: readonly string[], message: string) =>
        issues.push({ code: "custom", path: [...path], message, input: purge });
      const named = KINDS.filter((kind) => purge[kind] !== undefined);
      if (named.length === 0) find([], `name what to purge: at least one of ${KINDS.join(", ")}`);
      if (purge.everything && named.length > 1) {
        find(
          ["everything"],
          `must stand alone; leave out ${named.filter((kind) => kind !== "everything").join(" and ")}`,
        );
      }
      const tooMany = tooManyItems(purge);
      if (tooMany) find([], tooMany);
      if (purge.refresh && !purge.urls) find(["refresh"], "needs urls, because only a URL can be fetched again");
      const urls = purge.urls?.length ?? 0;
      if (purge.refresh && urls > MAX_REFRESH_URLS) {
        find(["refresh"], `one call can fetch at most ${MAX_REFRESH_URLS} URLs; this one names ${urls}`);
      }
    }),
  );

export type PurgeRequestBody = z.infer<typeof purgeRequestSchema>;
