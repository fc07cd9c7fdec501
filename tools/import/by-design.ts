import type { Affected, Aspect, Difference } from "./imported-site.ts";

const safer = (why: string, aspects: readonly Aspect[], affects: Omit<Affected, "routes">): Difference => ({
  kind: "safer",
  source: null,
  why,
  aspects,
  affects: { routes: null, ...affects },
});

/** Methods whose answers are never stored, and that change pages. */
export const UNSAFE: readonly string[] = ["POST", "PUT", "PATCH", "DELETE"];

/** The paths that nginx may read as others. */
export const SPELLINGS: readonly string[] = ["//*", "/*//*", "/*%([2-7].*)"];

/** What the edge does differently from nginx on every site, whatever the file says. */
export const BY_DESIGN: readonly Difference[] = [
  safer(
    "Answers to requests with cookies are stored only if the origin says public or s-maxage. Visitors with a framework's session get a page from the origin if only the route's lifetime made it storable. Cookies of well-known analytics do not count.",
    ["stored"],
    { cookies: ["*"] },
  ),
  safer(
    "Answers to requests with Authorization are stored only if the origin says public or s-maxage.",
    ["stored", "answer"],
    { requestFields: ["authorization"] },
  ),
  safer(
    "Parameters of well-known trackers are not in the key, and reach the origin only where nothing is stored. If the site reads one, write key: { query: { ignore: [] } }.",
    ["stored", "origin-url", "answer"],
    { parameters: ["utm_*", "gclid", "fbclid"] },
  ),
  {
    ...safer(
      "A redirect to the same host gets the parameters of trackers back that the origin did not get.",
      ["response-field"],
      { parameters: ["utm_*", "gclid", "fbclid"] },
    ),
    field: "location",
  },
  safer("A POST that succeeds invalidates its page (RFC 9111 §4.4).", ["stored"], {
    methods: UNSAFE,
  }),
  safer("If a HEAD finds a stale page, the edge asks the origin with HEAD, and stores nothing.", ["stored"], {
    methods: ["HEAD"],
  }),
  {
    ...safer(
      "Paths with //, or with escapes of ASCII characters like %20, are not stored if locations differ: nginx reads // as / and decodes escapes before it chooses a location.",
      ["stored"],
      {},
    ),
    affects: { routes: SPELLINGS },
  },
  safer("Requests for hosts that are not the site's get 421.", ["answer", "stored"], { host: "foreign" }),
  safer(
    "The edge serves parts of stored pages whether or not the origin offers parts. If a page is not stored, it fetches only the requested part, unless limits.fetchWholeBytes says otherwise.",
    ["stored", "answer"],
    {
      requestFields: ["range"],
    },
  ),
  safer(
    "The answer to a request with an unknown field is not stored, until a second look at the page has shown that the field does not change it: docs/security.md, fields.",
    ["stored"],
    { requestFields: ["x-*"] },
  ),
  safer(
    "X-Accel-Expires can only shorten how long a page is stored. Where it was to lengthen that, let the origin say s-maxage, or CDN-Cache-Control.",
    ["stored", "answer"],
    { answerFields: ["x-accel-expires"] },
  ),
  safer(
    "Answers with X-Accel-Buffering: no, which nginx does not store, are stored as others are. Where one must not be, let the origin say no-store.",
    ["stored", "answer"],
    { answerValues: { "x-accel-buffering": /^no$/i } },
  ),
  safer(
    "CDN-Cache-Control and Surrogate-Control, which nginx ignores, decide before Cache-Control.",
    ["stored", "answer"],
    { answerFields: ["cdn-cache-control", "surrogate-control"] },
  ),
  safer(
    'Cache-Control is read by RFC 9111: no-cache="x" and private="x" leave out that field and store the page, max-age="60" is a minute, and what cannot be read stores nothing. nginx looks for the words, and stores none of the first three.',
    ["stored", "answer"],
    { answerValues: { "cache-control": /="|max-age(?!=\d+\s*(?:,|$))/i } },
  ),
  safer("The edge obeys a visitor's no-store.", ["stored"], { requestFields: ["cache-control"] }),
  {
    ...safer(
      "The edge asks the origin for those of br, gzip and zstd that the visitor accepts, in one spelling, and stores each form.",
      ["origin-field"],
      {},
    ),
    field: "accept-encoding",
  },
];
