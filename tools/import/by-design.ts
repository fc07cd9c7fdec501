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

/** What the edge does differently from nginx on every site, whatever the file says. */
export const BY_DESIGN: readonly Difference[] = [
  safer(
    "Answers to requests with cookies are stored only if the origin says public or s-maxage, and visitors with a framework's session get pages that only the route's lifetime makes storable from the origin. Cookies of well-known analytics do not count.",
    ["stored"],
    { cookies: ["*"] },
  ),
  safer(
    "Answers to requests with Authorization are stored only if the origin says public or s-maxage.",
    ["stored", "answer"],
    { requestFields: ["authorization"] },
  ),
  safer(
    "Parameters of well-known trackers are left out of the key and do not reach the origin. If the site reads one, write key: { query: { ignore: [] } }.",
    ["stored", "origin-url", "answer"],
    { parameters: ["utm_*", "gclid", "fbclid"] },
  ),
  safer("A POST that succeeds invalidates its page (RFC 9111 §4.4).", ["stored"], {
    methods: UNSAFE,
  }),
  safer("A HEAD for a stale page is asked for by HEAD, and stores nothing.", ["stored"], { methods: ["HEAD"] }),
  safer("Other hosts than the site's get 421.", ["answer", "stored"], { host: "foreign" }),
  safer(
    "Parts of stored pages are served whether or not the origin offers parts. A part of a page that is not stored is fetched alone, unless limits.fetchWholeBytes says otherwise.",
    ["stored", "answer"],
    {
      requestFields: ["range"],
    },
  ),
  safer(
    "The answer to a request with an unknown field is not stored, until a second look at the page has shown that the field does not choose it: docs/security.md, fields.",
    ["stored"],
    { requestFields: ["x-*"] },
  ),
  safer("A visitor's no-store is obeyed.", ["stored"], { requestFields: ["cache-control"] }),
  {
    ...safer(
      "The origin is offered br, gzip and zstd as far as the visitor takes them, in one spelling, and each form is stored.",
      ["origin-field"],
      {},
    ),
    field: "accept-encoding",
  },
];
