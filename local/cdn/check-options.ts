/**
 * The checks of everything that callers of the simulated CDN pass. Each `TypeError` says what was wrong, where, and
 * what to write instead.
 */

import { validateHeaderName, validateHeaderValue } from "node:http";
import { isIP } from "node:net";
import * as z from "zod";
import { misuse } from "../../sdk/errors.ts";

/** Words of other tools for keys that have another name here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  headers: "fields",
  header: "fields",
  statusCode: "status",
  content: "body",
  text: "body",
  region: "from",
};

/** Throws a `TypeError` for options that `startCdn` does not take. */
export function checkCdnOptions(options: unknown): void {
  if (options === undefined || (isObject(options) && options.site === undefined && options.config === undefined)) {
    throw new TypeError(`startCdn: there is no site. ${HOW_TO_NAME_A_SITE}`);
  }
  check("startCdn", optionsSchema, options);
  const { site, config, origin } = options as Readonly<Record<string, unknown>>;
  if (site !== undefined && config !== undefined) {
    throw new TypeError("startCdn: the options site and config both name the site; leave one of them out.");
  }
  if (!isScript(origin)) return;
  for (const [target, replies] of Object.entries(origin)) {
    checkReplies("startCdn, origin", target, Array.isArray(replies) ? replies : [replies]);
  }
}

/** Throws a `TypeError` for what is not a path as a scripted origin sees it. `call` is for its message. */
export function checkPath(call: string, target: unknown): void {
  if (!isPath(target)) throw new TypeError(`${call}: ${JSON.stringify(target)} is not a path. ${asPath(target)}`);
  const canonical = canonicalTarget(target);
  if (target === canonical) return;
  const [given, seen] = [target, canonical].map((each) => JSON.stringify(each));
  throw new TypeError(`${call}: the origin never sees ${given}, because the edge spells it ${seen}. Write that.`);
}

/** Throws a `TypeError` for replies that a scripted origin cannot give. `call` and `target` are for its message. */
export function checkReplies(call: string, target: string, replies: readonly unknown[]): void {
  checkPath(call, target);
  if (replies.length === 0) throw new TypeError(`${call}: the reply is missing. Write one like { body: "v1" }.`);
  for (const [index, reply] of replies.entries()) {
    const place = replies.length === 1 ? `the reply for ${target}` : `reply ${index + 1} for ${target}`;
    if (typeof reply === "string") {
      const body = JSON.stringify(reply);
      throw new TypeError(`${call}: ${place} is a string. A reply is an object; write { body: ${body} }.`);
    }
    check(`${call}: ${place}`, replySchema, reply);
  }
}

/** Throws a `TypeError` for a request that `cdn.get` and `cdn.request` do not take. */
export function checkRequest(path: unknown, request: unknown): void {
  const call = `cdn.get(${JSON.stringify(path)})`;
  // `*` is the target of `OPTIONS *`, RFC 9112 §3.2.4.
  if (!isPath(path) && path !== "*") throw new TypeError(`${call}: this is not a path. ${asPath(path)}`);
  if (/[^!-~]/.test(path)) {
    const sendable = JSON.stringify(canonicalTarget(path));
    throw new TypeError(`${call}: this has a character that no path can have. Write ${sendable}.`);
  }
  check(call, requestSchema, request);
}

/** Throws a `TypeError` for what `cdn.settle` does not accept. With a promise, the CDN's time would move too early. */
export function checkReceipt(receipt: unknown): void {
  const settlesInMs = isObject(receipt) ? receipt.settlesInMs : undefined;
  if (typeof settlesInMs === "number" && Number.isFinite(settlesInMs) && settlesInMs >= 0) return;
  const what = receipt instanceof Promise ? "a promise" : "no receipt";
  throw new TypeError(
    `cdn.settle: this is ${what}. It takes the receipt of a purge; write await cdn.settle(await cdn.purger.purgeUrls("/about")).`,
  );
}

const HOW_TO_NAME_A_SITE =
  'Write startCdn({ site: {} }) for a site without rules, or startCdn({ config: "tidemark.config.ts" }) for one in a file.';

const WHOLE = "must be a whole number, 1 or more";

const strings = z.record(z.string(), z.string(), 'must be an object of strings, like { "accept-language": "en" }');

const fieldName = z.string().refine(passes(validateHeaderName));

const notFields = ({ code }: { readonly code: string }) =>
  code === "invalid_key" ? "is not the name of a field" : 'must be an object, like { "cache-control": "max-age=60" }';

/** The names are checked before, so any name will do. */
const fieldValue = z.string().refine(
  passes((value) => validateHeaderValue("x", value)),
  "has a character that no field can have",
);

const FINAL_STATUS = "must be 200 to 999";

const replySchema = z.strictObject(
  {
    status: z.int("must be a whole number, like 404").min(200, FINAL_STATUS).max(999, FINAL_STATUS).optional(),
    fields: z
      .record(
        fieldName,
        z.union([fieldValue, z.array(fieldValue)], "must be a string, or a list of them for several lines"),
        { error: notFields },
      )
      .optional(),
    body: z.string("must be a string").optional(),
    framing: z.enum(["length", "chunked", "close"], 'must be "length", "chunked" or "close"').optional(),
    cutAfterBytes: z.int("must be a number of bytes").nonnegative().optional(),
    hold: z.string("must be a name for origin.release").optional(),
    bytesBeforeHold: z.int("must be a number of bytes").nonnegative().optional(),
    interims: z
      .array(
        z.strictObject({
          status: z.int("must be a whole number, like 103").min(102).max(199),
          fields: z.record(fieldName, fieldValue, { error: notFields }).optional(),
        }),
        "must be a list, like [{ status: 103 }]",
      )
      .optional(),
    failure: z.enum(["reset", "cut-head"], 'must be "reset" or "cut-head"').optional(),
    delayMs: z.number("must be a number of milliseconds").nonnegative().optional(),
  },
  { error: (issue) => (issue.code === "invalid_type" ? 'a reply must be an object, like { body: "v1" }' : undefined) },
);

const roundTripsSchema = z.strictObject({
  clientMs: z.number().nonnegative().optional(),
  originMs: z.number().nonnegative().optional(),
  logMs: z.number().nonnegative().optional(),
});

const optionsSchema = z.strictObject(
  {
    site: z
      .custom(isObject, "must be the site's rules as an object, like {}; a file with rules is named by config")
      .optional(),
    config: z
      .string('must be the name of a file, like "tidemark.config.ts"; rules as an object go into site')
      .optional(),
    origin: z
      .custom((origin) => isScript(origin) || isOrigin(origin), { error: ({ input }) => howToNameOrigin(input) })
      .optional(),
    regions: z
      .array(
        z
          .string("must be a name")
          .regex(/^[^/\\]+$/, {
            error: ({ input }) => (input === "" ? "must be a name" : "must be a name without slashes"),
          })
          // Requests carry the name in capitals in a field.
          .refine(
            passes((name) => validateHeaderValue("x", name.toUpperCase())),
            'must be a name in Latin letters, like "tyo"',
          ),
        { error: ({ input }) => howToListRegions(input) },
      )
      .min(1, "must have at least one name")
      .refine((names) => new Set(names).size === names.length, "must have each name once")
      .optional(),
    isolates: z.int(WHOLE).min(1, WHOLE).optional(),
    latency: z
      .union([z.boolean(), z.record(z.string(), roundTripsSchema)], {
        error: "must be true, false, or round trips by region like { nyc: { clientMs: 12, originMs: 80, logMs: 80 } }",
      })
      .optional(),
    publicUrl: z
      .string()
      .refine(isOrigin, "must be scheme and host, like https://www.example.com, without a path")
      .optional(),
    token: z.string("must be a string").min(1, "must not be empty").optional(),
  },
  { error: (issue) => (issue.code === "invalid_type" ? `there is no site. ${HOW_TO_NAME_A_SITE}` : undefined) },
);

const requestSchema = z.strictObject({
  from: z.string("must be the name of a region").optional(),
  isolate: z.int("must be the number of an isolate, from 0").nonnegative().optional(),
  method: z.string('must be a string, like "POST"').optional(),
  host: z.string('must be a host, like "www.example.com"').optional(),
  fields: strings.optional(),
  body: z.string("must be a string").optional(),
  country: z
    .string()
    .regex(/^[A-Z][A-Z0-9]$/, 'must be a country of ISO 3166-1, like "DE"')
    .optional(),
  address: z
    .string()
    .refine((text) => isIP(text) !== 0, 'must be an IP address, like "192.0.2.7"')
    .optional(),
  token: z.string("must be a string").optional(),
  after: z
    .custom(
      (after) =>
        typeof after === "string" || (isObject(after) && typeof (after as { token?: unknown }).token === "string"),
      "must be a receipt, or its token",
    )
    .optional(),
});

function check(call: string, schema: z.ZodType, given: unknown): void {
  const { error } = schema.safeParse(given, { reportInput: true });
  if (error) throw misuse(call, error, schema, OTHER_NAMES);
}

/** Whether Node takes a text without an error. */
function passes(validate: (text: string) => void): (text: string) => boolean {
  return (text) => {
    try {
      validate(text);
      return true;
    } catch {
      return false;
    }
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isScript(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !(value instanceof URL);
}

function isOrigin(value: unknown): boolean {
  const url = URL.parse(String(value));
  return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
}

function isPath(target: unknown): target is string {
  return typeof target === "string" && target.startsWith("/");
}

/**
 * A path with its query in the spelling in which the edge sends it to the origin. Rules of a route for the query are not
 * applied.
 */
export function canonicalTarget(target: string): string {
  const { pathname, search } = new URL(`http://origin${target}`);
  const path = pathname.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
  return path + search;
}

function asPath(target: unknown): string {
  if (typeof target !== "string" && !(target instanceof URL)) return 'A path is a string, like "/about".';
  const url = URL.parse(String(target));
  if (url?.protocol.startsWith("http")) {
    return `Write the path ${JSON.stringify(url.pathname + url.search)} without scheme and host.`;
  }
  return `A path begins with a slash: write ${JSON.stringify(`/${target}`)}.`;
}

function howToNameOrigin(given: unknown): string {
  const url = URL.parse(String(given));
  if (url?.username || url?.password) {
    return 'cannot have a user and password; give the site originFields: { authorization: "Basic …" }';
  }
  return 'must be a running site like "http://localhost:8000", without a path, or replies by path like { "/about": { body: "v1" } }';
}

function howToListRegions(given: unknown): string {
  if (typeof given !== "string") return 'must be a list of names, like ["nyc", "fra"]';
  const names = given.split(",").map((name) => JSON.stringify(name.trim()));
  return `must be a list of names: write regions: [${names.join(", ")}]`;
}
