import fc from "fast-check";
import type { Reply, SeenRequest } from "../../local/cdn/scripted-origin.ts";
import type { ClientRequest } from "../engine/scenario.ts";
import type { Case } from "./case.ts";
import { type Meet, sightOf } from "./meetings/meet.ts";

/**
 * A random origin and two visitors. The origin's answer may depend on any field that it does not name, with the
 * exceptions in docs/security.md: it names fields that every browser sends in Vary, and does not call an answer for one
 * visitor public.
 */
export interface FuzzedOrigin {
  readonly reads: readonly string[];
  readonly cacheControl: string;
  readonly vary: readonly string[];
  readonly status: number;
  /** The origins that may read the answer: none is named, all, or the one that asked. */
  readonly allows: "nothing" | "all" | "asker";
  readonly encodes: boolean;
  /** The answer sets a cookie if the request has the first of these fields, and fails if it has the second. */
  readonly setsCookieFor: string;
  readonly fails: { readonly field: string; readonly value: string; readonly status: number };
  readonly redirects: boolean;
}

export interface Encounter {
  readonly origin: FuzzedOrigin;
  readonly first: ClientRequest;
  readonly second: ClientRequest;
}

/** Fields by which an origin may choose, if it names them in Vary. */
const NEGOTIATED = ["user-agent", "accept", "accept-language", "sec-fetch-site", "via", "dnt"];

const READ = [
  ...NEGOTIATED,
  // Sessions are more frequent than the others, because errors with them do the most harm.
  ...[
    "cookie",
    "cookie",
    "cookie",
    "cookie",
    "authorization",
    "origin",
    "referer",
    "range",
    "if-none-match",
    "expect",
    "upgrade",
    "content-type",
  ],
  ...[
    "x-forwarded-host",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-port",
    "forwarded",
    "x-host",
    "x-real-ip",
  ],
  ...["x-original-url", "x-rewrite-url", "x-http-method-override", "x-requested-with", "hx-request", "x-any", "te"],
  ...["max-forwards", "x_forwarded_host", "true-client-ip", "connection", "prefer"],
];

const NASTY = [
  "",
  "*",
  "evil.example",
  "https://evil.example/",
  "<script>",
  '"',
  "a, b",
  "gzip;q=0, br",
  "bytes=0-1",
  '"x"',
  "no-cache",
  "no-store",
  "only-if-cached",
  "max-stale",
  "x-any, keep-alive",
  "session=1",
  "_ga=1; session=1",
  "Basic YTpi",
  "XMLHttpRequest",
  "100-continue",
  "h2c",
  "DELETE",
  "/admin",
  "x".repeat(2000),
  "\u00ff\u0080",
];

const PATHS = [
  ...["/a", "/A", "/a/", "/a;b", "/a%2Fb", "/a%2fb", "//a", "/%61", "/a?", "/a?x=1", "/a?x=1&y=2", "/a?y=2&x=1"],
  ...[
    "/a?utm_source=1",
    "/a?utm_source=1;x=1",
    "/a/../a",
    "/a/%2e%2e/a",
    "/a%00",
    "/..%2fa",
    "/a..;/",
    "/a.css",
    "/a%0Ab",
  ],
  ...["/a%25", "/a%", "/a%3Fx=1", "/a%23", "/a?x=%00", "/a?X=1", "/a?%78=1", "/a\\b"],
];

const value = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: fc.constantFrom(...'abz09 ,;="<>-_./*q:'), maxLength: 12 }).map((text) => text.trim()),
);
const fieldName = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...READ, "cache-control", "pragma") },
  { weight: 1, arbitrary: fc.stringMatching(/^x-[a-z_]{1,6}$/) },
);
const path = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 1, arbitrary: fc.stringMatching(/^\/[aA/;.%25?&=x]{0,6}$/) },
);

const fuzzedOrigin: fc.Arbitrary<FuzzedOrigin> = fc
  .record({
    reads: fc.uniqueArray(fc.constantFrom(...READ), { maxLength: 3 }),
    cacheControl: fc.constantFrom(
      ...[
        "max-age=60",
        "public, max-age=60",
        "s-maxage=60",
        "max-age=60, private",
        "no-store",
        "max-age=60, no-cache",
        "",
      ],
      ...["max-age=60, must-revalidate", "stale-while-revalidate=60, max-age=0", 'private="set-cookie", max-age=60'],
    ),
    vary: fc.uniqueArray(fc.constantFrom("accept-language", "origin", "x-any", "accept-encoding", "cookie", "*"), {
      maxLength: 1,
    }),
    status: fc.oneof(
      { weight: 5, arbitrary: fc.constant(200) },
      { weight: 1, arbitrary: fc.constantFrom(203, 301, 404, 410, 403, 500, 416, 429, 206, 304) },
    ),
    fails: fc.oneof(
      { weight: 2, arbitrary: fc.constant({ field: "", value: "", status: 200 }) },
      { weight: 1, arbitrary: fc.constantFrom(429, 401, 416).map((status) => ({ field: "dnt", value: "1", status })) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(403, 404, 500)
          .map((status) => ({ field: "sec-fetch-site", value: "cross-site", status })),
      },
    ),
    allows: fc.constantFrom("nothing", "all", "asker"),
    encodes: fc.boolean(),
    setsCookieFor: fc.constantFrom("", "", "dnt", "x-any", "cookie"),
    redirects: fc.boolean(),
  })
  .map((origin) => ({ ...origin, vary: honestVary(origin) }));

/** The Vary that even a careless origin has to send. */
function honestVary({ reads, vary, cacheControl, encodes }: FuzzedOrigin): readonly string[] {
  const isShared = /public|s-maxage|must-revalidate/.test(cacheControl);
  const said = reads.filter(
    (name) => NEGOTIATED.includes(name) || (isShared && ["cookie", "authorization"].includes(name)),
  );
  return [...new Set([...vary, ...said, ...(encodes ? ["accept-encoding"] : [])])];
}

/** Mostly fields that this origin reads, because a trick with another field has no effect. */
function fieldsFor({ reads, setsCookieFor, fails }: FuzzedOrigin): fc.Arbitrary<Record<string, string>> {
  const telling = [...reads, setsCookieFor, fails.field].filter((name) => name !== "");
  const name =
    telling.length === 0 ? fieldName : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...telling) }, fieldName);
  const pair = name.chain((each) => fc.tuple(fc.constant(each), valueFor(each)));
  return fc.array(pair, { minLength: 1, maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));
}

function valueFor(name: string): fc.Arbitrary<string> {
  const usual: Record<string, string> = { dnt: "1", "sec-fetch-site": "cross-site", cookie: "session=1" };
  const own = usual[name];
  return own === undefined ? value : fc.oneof(fc.constant(own), value);
}

const plainFields = fc.record(
  {
    "user-agent": fc.constantFrom("curl/8", "Mozilla/5.0 (X11) Firefox/140.0"),
    accept: fc.constantFrom("*/*", "text/html,*/*;q=0.8"),
    "accept-language": fc.constantFrom("de", "en-US,en;q=0.5"),
    "accept-encoding": fc.constantFrom("gzip", "br, gzip", "identity"),
    "sec-fetch-site": fc.constantFrom("same-origin", "none"),
    authorization: fc.constant("Basic YzpkI"),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** Any visitor, and one who wants a page and nothing else. */
export const encounter: fc.Arbitrary<Encounter> = fuzzedOrigin.chain((origin) =>
  fc
    .record({
      method: fc.oneof(
        { weight: 6, arbitrary: fc.constant("GET") },
        { weight: 1, arbitrary: fc.constantFrom("HEAD", "POST", "OPTIONS", "PUT") },
      ),
      fields: fieldsFor(origin),
      paths: fc.oneof(
        { weight: 3, arbitrary: path.map((one) => [one, one]) },
        { weight: 1, arbitrary: fc.tuple(path, path) },
      ),
      plainFields,
      asksAcross: fc.boolean(),
    })
    .map(({ method, fields, paths, plainFields, asksAcross }) => ({
      origin,
      first: { method, path: paths[0]!, fields: withoutDoubt(fields) },
      second: {
        path: paths[1]!,
        // Scripts of another site may read only answers that name their origin, which the Fetch Standard requires of
        // such an origin.
        fields: { ...plainFields, ...(asksAcross && origin.allows === "asker" && { origin: "https://good.example" }) },
      },
    })),
);

/**
 * Without fields that determine the end of the message or the connection; test/visitors/raw/raw.test.ts covers those with
 * raw bytes.
 */
function withoutDoubt(sent: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(sent).filter(([name, text]) => name !== "expect" || text !== "100-continue"),
  );
}

export function answering(origin: FuzzedOrigin): Case["origin"] {
  return ({ method, target, fields, body }: SeenRequest): Reply => {
    const read = origin.reads.map((name) => `${name}=${fields[name] ?? ""}`);
    const isOffered = origin.encodes && String(fields["accept-encoding"]).includes("gzip");
    const cookie = fields[origin.setsCookieFor];
    const isFailing = fields[origin.fails.field] === origin.fails.value;
    return {
      status: isFailing ? origin.fails.status : origin.status,
      body: `${method} ${target} ${read.join(" ")} ${body}`,
      fields: {
        ...(origin.cacheControl !== "" && { "cache-control": origin.cacheControl }),
        ...(origin.vary.length > 0 && { vary: origin.vary.join(", ") }),
        ...(origin.allows === "all" && { "access-control-allow-origin": "*" }),
        ...(origin.allows === "asker" && {
          "access-control-allow-origin": String(fields.origin ?? "https://own.example"),
        }),
        ...(isOffered && { "content-encoding": "gzip" }),
        ...(cookie !== undefined && { "set-cookie": `seen=${Buffer.from(String(cookie)).toString("hex")}` }),
        ...(origin.redirects && { location: `/to?${Buffer.from(read.join("&")).toString("hex")}` }),
      },
    };
  };
}

/** The second visitor's answer after the first one's request, and without it. They have to be the same. */
export async function meetBoth(
  { origin, first, second }: Encounter,
  meet: Meet,
): Promise<{ after: unknown; alone: unknown }> {
  const after = await meet({}, answering(origin));
  await after.send(first);
  const ofSecond = sightOf(await after.send(second));
  await after.stop();
  const alone = await meet({}, answering(origin));
  const ofSecondAlone = sightOf(await alone.send(second));
  await alone.stop();
  return { after: ofSecond, alone: ofSecondAlone };
}
