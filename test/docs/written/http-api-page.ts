import type * as z from "zod/mini";
import { MAX_TAG_BYTES } from "../../../wire/fields.ts";
import { DEFAULT_LISTED_PURGES, MAX_LISTED_PURGES, MAX_PURGE_WAIT_MS } from "../../../wire/purge-record-query.ts";
import {
  MAX_PURGE_BYTES,
  MAX_PURGE_ITEMS,
  MAX_REFRESH_URLS,
  type PurgeRequestBody,
  purgeRequestSchema,
} from "../../../wire/purge-request.ts";
import type { Verdict } from "../../../wire/verdicts/verdict.ts";
import { DASHBOARD_ROUTES, PURGE_OF_PAGE, ROUTES } from "../../../worker/control/routes.ts";

/** The page of the calls under `/_tidemark/`. */
export const HTTP_API_PAGE = "docs/reference/http-api.md";

/** What each call of the routes' tables does, by its method and path. */
const CALLS: Readonly<Record<string, string>> = {
  "POST purge": "[purges](#purge) what its JSON names",
  "PURGE *": "purges that URL; the same answer",
  "GET purges": `the [audit trail](#the-audit-trail), newest first: \`{purges, next}\`, with \`?before=\` and \`?limit=\` (${DEFAULT_LISTED_PURGES}, at most ${MAX_LISTED_PURGES})`,
  "GET purges/:seq": `one purge, and whether it has settled; with \`?wait=<ms>\` (up to ${MAX_PURGE_WAIT_MS.toLocaleString("en")}) the answer is held until it has`,
  "GET stats":
    "[what the site's isolates have counted](#stats): `?last=` from `15m` to `90d`, by default `24h`; `?pop=`; `?scope=isolate` for the one that answers",
  "GET metrics":
    "[the same](../settings.md#metrics) since the ledger began, in the Prometheus text format, or OpenMetrics by `Accept`",
  "GET site": "the settings in force, and all limits; of `originFields` the names alone",
  "GET explain": "[what would happen](#explain) with a GET of `?url=`, and why",
  "POST explain": "the same for a request: JSON with `url`, `method`, `fields`",
  "GET health":
    '`{"status":"ok","origin":"up"}`, or `"down"` while the answering isolate [knows that](../http.md#an-origin-that-is-down). It still serves what is stored, so a probe of readiness (`health?ready`) keeps it in service. 503 without the binding `PURGE_LOG`',
  "GET openapi.json": "these calls as OpenAPI 3.1",
  "GET ": "the dashboard, where `Accept` has HTML; unless `dashboard: false`",
  "POST session": "a cookie that may read, for twelve hours: [what it can do](../security.md#the-dashboard)",
  "DELETE session": "takes that cookie back",
};

/** The meanings of the fields of a purge. */
const PURGE_FIELDS: Readonly<Record<keyof PurgeRequestBody, string>> = {
  urls: "`/path?query` on every host; `https://host/path` on that host, http and https; also what Next's router fetches of the page with `_rsc`",
  tags: `tags, of at most ${MAX_TAG_BYTES} bytes of printable ASCII`,
  prefixes:
    "`/shop/a` and below, by segments, on every host; `www.example.com/shop/a`, or a whole URL, on that host. Queries and a final slash do not count. Beyond 12 segments or 1024 characters a prefix is cut, and purges more than it names",
  hosts: "`www.example.com`: all of it, http and https",
  everything: "`true`, with none of the above",
  mode: '`"hard"` (default) or [`"soft"`](../protocol.md#soft-purges)',
  dryRun: "`true`: say what would be purged, and change nothing",
  refresh: `\`true\`: fetch the URLs again in this PoP, in the codings of browsers; at most ${MAX_REFRESH_URLS}, only with \`urls\`. The answer comes after that, so never wait for it in a request of the origin, which may wait for itself`,
  id: "1 to 128 printable characters; the field `Idempotency-Key` means the same. For 30 days (a day, beyond a million) the same id, items and mode get the first number again, others 409",
  repeatAfterMs: "purge the same again after so long, at most a day: for database replicas that lag",
  reason: "up to 500 characters, kept in the audit trail",
};

/** What advice is seen in, and which setting it names. */
const ADVICE: Readonly<Record<Verdict["kind"], readonly [finding: string, seenIn: string, setting: string]>> = {
  query: [
    "a parameter that does not matter, its letter case, the order of the query",
    "stored bodies under keys that would be one",
    "`key.query`",
  ],
  vary: ["a `Vary` that splits for nothing", "the same, by the fields that select", "`fields.drop`"],
  "missing-lifetime": [
    "a missing lifetime",
    "answers with `no-freshness`, and how soon they were fetched again",
    "`defaultTtl`",
  ],
  "short-lifetime": [
    "a lifetime shorter than the time between changes",
    "bodies that were fetched again and had not changed",
    "`ttl`",
  ],
  "same-for-all": [
    "`private`, `Set-Cookie` or cookies on a page that never differs",
    "bodies on their way to 20 visitors",
    "`stripSetCookie`, `cookies.ignore`, the origin's fields",
  ],
  "unkeyed-field": ["a field that is not in the key", "answers with `unkeyed-field`", "`key.fields`, `fields.drop`"],
  "too-large": ["pages that are too large", "answers with `too-large`", "`limits`"],
  "slower-than-origin": ["hits that are slower than the origin", "times to the head", "`pass`"],
  "quiet-pop": ["a PoP that is too quiet for its lease", "reads of the log for each request", "`purge.leaseMs`"],
  "small-memory": [
    "a memory that is too small",
    "how soon pages are used again, and their sizes",
    "`limits.memoryBytes`, `--memory`",
  ],
};

export function httpApiPage(): string {
  const routes = [...ROUTES, ...DASHBOARD_ROUTES, PURGE_OF_PAGE];
  const calls = routes.map(({ method, path, scope }) => [
    `\`${method} ${path === "*" ? "<any URL of the site>" : `/_tidemark/${path.replace(":seq", "<seq>")}`}\``,
    scope ?? "none",
    explained(CALLS, `${method} ${path}`),
  ]);
  const fields = Object.keys((purgeRequestSchema as unknown as { shape: Record<string, z.ZodMiniType> }).shape);
  return `${[
    INTRODUCTION,
    `## Calls\n\n${table(["call", "scope", "does"], [...calls, ...OTHER_CALLS])}`,
    PURGE,
    table(
      ["field", "meaning"],
      fields.map((field) => [`\`${field}\``, explained(PURGE_FIELDS, field)]),
    ),
    RECEIPT,
    TRAIL,
    STATS,
    `## Advice\n\n${ADVICE_TEXT}\n\n${table(["finding", "seen in", "setting"], Object.values(ADVICE))}\n\n${ADVICE_LIMITS}`,
    EXPLAIN,
    ERRORS,
  ].join("\n\n")}\n`;
}

/** The explanation of a name; an error if nobody has written it. */
function explained(table: Readonly<Record<string, string>>, name: string): string {
  const text = table[name];
  if (text === undefined)
    throw new Error(`${HTTP_API_PAGE}: test/docs/written/http-api-page.ts does not explain ${name}`);
  return text;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const OTHER_CALLS = [
  [
    "`/_tidemark/doors/VENDOR/…`",
    "door",
    "purges by [another vendor's call](../purging.md#coming-from-another-cdn), if the site names it in `doors`",
  ],
  [
    "`PURGE` and `BAN <any URL of the site>` at the door of Fastly or Varnish",
    "door",
    "the same; without the door, `BAN` goes to the origin",
  ],
  [
    "`GET <page>` with `Tidemark-Refresh: <token>`",
    "purge",
    "fetches the page again, in the codings that this request accepts, and stores it; purges nothing. 401 or 403 without a token that may",
  ],
];

const INTRODUCTION = `# Reference: the HTTP API

The calls under \`/_tidemark/\` on every host of a site: purges, statistics, explanations. \`npm run docs\` makes this page from the
routes, the schemas and the tables beside them.

\`\`\`sh
curl https://www.example.com/_tidemark/purge -H "Authorization: Bearer $TIDEMARK_TOKEN" \\
  -H "Content-Type: application/json" -d '{"tags": ["song:42"]}'
\`\`\`

Calls need \`Authorization: Bearer <token>\`. \`TIDEMARK_TOKEN\` is one token for everything; \`TIDEMARK_TOKENS\` is
[a list](../operations.md#change-a-token) with scopes; a token for a door opens nothing else. Without a token, or with a [weak
one](../security.md#the-control-plane), all calls with a scope are refused.`;

const PURGE = `## Purge

The body of \`POST /_tidemark/purge\`, in UTF-8. Unknown fields are refused. At least one of the first five is needed; at most
${MAX_PURGE_ITEMS.toLocaleString("en")} items and ${MAX_PURGE_BYTES / 2 ** 20} MiB. Also refused: hosts of other sites, URLs with a \`*\` in their path, prefixes without a
segment or with a final \`*\`. Where \`publicUrl\` replaces the host of requests, each host of the site names the same pages.`;

const RECEIPT = `### The receipt

\`\`\`json
{ "seq": 7, "logId": "…", "token": "….7", "at": "2026-01-01T12:00:00.000Z", "settlesInMs": 1250,
  "accepted": { "urls": 1, "tags": 1, "prefixes": 0, "hosts": 0, "everything": false },
  "replayed": false, "dryRun": false,
  "refreshed": [{ "url": "https://www.example.com/plog/", "status": 200, "xCache": "BYPASS" }] }
\`\`\`

- \`settlesInMs\` counts from the arrival of the answer. \`token\` is the value of \`Tidemark-After\`: a request with it gets nothing
  older than this purge, at once.
- A page in \`refreshed\` that could not be fetched, or that the Cache API (on a server, the disk, if it is large) did
  not take, has an \`error\`; the purge stands. On Cloudflare's free plan a call has subrequests for 15 pages, or for 11
  that have variants.
- \`warnings\` are sentences about items that may not do what was meant; at most 20. \`unseen\` has the tags and URLs under which no
  page was stored in the last seven days, the first three with the \`nearest\` that was, if one is alike. Each is a warning, too, and
  none is a refusal. It is what the answering isolate and the reports of all others say, up to a minute late; 50 items are
  looked up, and at most ten unseen ones are named, but none with \`refresh\`
  ([why](../decisions/0043-a-purge-that-hits-nothing-says-so.md)).
- A dry run has \`seq\` 0, no token, and \`planned\`: for each item but \`everything\` the \`item\`, its \`key\`, and a URL's \`route\` or
  \`null\`. It cannot know the origin's tags.
- The edge of \`tidemark dev\` alone adds the field \`Tidemark-Early-Purges\`: a path that lists, two and a half seconds later, the
  pages that were fetched again and [had not changed](../purging.md#a-purge-before-the-commit-in-development).`;

const TRAIL = `## The audit trail

A row has \`seq\`, \`at\`, \`by\` (the token's name, or \`edge\` for an invalidation after an unsafe request, of mode \`invalidate\`),
\`reason\`, \`mode\`, \`accepted\`, \`items\` (the first 2000 characters, as \`tidemark purge -\` reads them), \`itemCount\` (all distinct
ones), \`id\`, \`repeatOf\`, \`settled\`, and while it has not settled \`waitsFor\`: the machines that have not confirmed it. The log keeps
100,000 rows, for 90 days, and those of unsafe requests for 10,000 numbers; in these, parameters that may be secrets have
the value \`…\`.`;

const STATS = `## Stats

[\`SiteStats\`](tidemark.md#sitestats) describes each field. \`tidemark stats\` says the same in words and gives [advice](#advice),
\`tidemark top\` shows the last minutes in a terminal, \`stats()\` of the [client](../purging.md) returns it.

- **What is counted.** Every isolate counts into a fixed amount of memory: answers by \`X-Cache\` and by status, what was not
  stored and why, bytes, times to the head, and the 64 heaviest URLs of each kind. URLs that are not stored are kept without
  their query, as printable ASCII cut at 200 characters.
- **When.** An isolate reports what is new once a minute: with a read of the log, or else by a call behind an answer; on a server
  of one's own also [when somebody asks](../decisions/0044-processes-are-asked-when-somebody-looks.md). A report is sent again
  under its number if it may be lost, and counts once.
- **How long.** The log's object adds reports up in SQLite, about 80 MB with five PoPs: minutes for two hours, hours and days for
  90 days, by PoP (the first 100, and \`(others)\`); routes (50 and \`(others)\`) and URLs for the whole site. A window of up to two
  hours is read by minutes, of up to five days by hours, a longer one by days; it begins with a whole one.
- **What may be missing.** The newest minute, unless the stats say \`isCurrent\`. An isolate that dies loses at most a minute
  (half a minute of all, if the log's object on Workers ends), and more only while it cannot reach the log: \`isolates\` says how many have fallen silent, and at most how much of their time
  (\`unheardMs\`) no report covers. Quantiles of times are [within 2 %](../decisions/0055-small-readers-where-packages-weigh-too-much.md), between 0.01 ms
  and 100 s. Hits in memory are timed on a server of one's own, one of 16; on Workers the clock stands still meanwhile. A body
  whose length the origin does not announce counts once it is stored, and otherwise in \`unmeasuredBodies\`. Others count in full,
  even if they break off or their client leaves.
- **Workers Analytics Engine.** If the worker has a dataset bound as \`TIDEMARK_ANALYTICS\`, each report is a data point: index and
  \`blob1\` are the PoP, \`double1\` to \`double6\` are \`requests\`, \`fromCache\`, \`origin.asked\`, \`origin.failed\`, \`bytes.fromCache\` and
  \`bytes.fromOrigin\`.`;

const ADVICE_TEXT = `\`tidemark stats\` ends with what to change. Each sentence has its evidence, the setting and the effect; nothing is said under
100 requests of the route or PoP, and no effect under 1 % of them.

\`\`\`console
$ npx tidemark stats --last 24h
Last 24 h: 1,204,331 requests, 93.1 % from cache. The origin was asked 83,200 times instead of 1,204,331; visitors waited 11 ms
instead of 240 ms in the median; the cache sent 41.3 GB, the origin 2.5 MB.

57 % of the fetches on \`/api/search\` differ from the request for a fresh page only in the parameter \`ref\`, and all 562 bodies that were
compared were the same: add \`"ref"\` to \`key.query.ignore\`, or take it out of \`key.query.only\`; 71 % of its requests would come
from the cache instead of 33 %.
\`\`\``;

const ADVICE_LIMITS = `Where one page would take the place of several, at least 20 bodies were compared, and one that differs silences the advice.
Parameters whose names speak of credentials are never looked at. Each isolate compares the pages that it has fetched itself,
behind the answer: up to 256 KiB of a body, 1 MiB a second, digests of up to 4096 keys; of answers for one visitor it reads one in
eight, up to 64 KiB, on their way. So counts are too low rather than too high, except that a page which a purge has removed counts
as fresh until its lifetime ends.

What memories of other sizes would hold (\`memory.curve\`) follows from a sample of up to 1024 pages an isolate (SHARDS, Waldspurger
et al., FAST 2015). In the tests it is within 5 points of an exact memory that evicts what was not used for longest; the edge's own
eviction holds more. Nothing is said under 1000 uses, or under 5 points of gain.`;

const EXPLAIN = `## Explain

\`explain\` takes the decisions of the edge itself, up to the point where it would act. It asks no origin, stores and counts nothing;
only a lease that is over is renewed, and a wrong token in \`Tidemark-Refresh\` counts as one. It shows no body and no field of a
page; of the fields of stored variants only the names; of other pages' parameters whose names speak of credentials (\`token\`,
\`key\` …) no value. \`tidemark explain\` prints it in sentences:

\`\`\`console
$ npx tidemark explain "/list?page=2&utm_source=mail" --header "Cookie: theme=dark"
MISS  GET http://www.example.com/list?page=2&utm_source=mail

  1. /list is the first route that matches /list.
  2. Memory has nothing under this key.
  3. The shared tier has nothing under this key.
  4. The edge asks the origin.
  5. With cookies that count, the answer is stored only if it is public or has an s-maxage.

Key          http://www.example.com/list?page=2
Dropped      utm_source=mail
Nearest      http://www.example.com/list?page=1
             differs in: query page=2, query page=1
\`\`\`

and \`--json\` as the edge sends it:

\`\`\`json
{ "version": 1, "url": "https://www.example.com/shop/a", "method": "GET", "route": "/shop/*",
  "key": "https://www.example.com/shop/a", "dropped": [],
  "memory": { "status": 200, "bodyBytes": 5120, "since": "2026-01-01T12:00:00.000Z", "ageSeconds": 10,
    "freshForSeconds": 50, "selectedBy": [], "tags": ["shop", "song:42"] },
  "sharedTier": null, "purge": null, "outcome": { "xCache": "HIT", "detail": null },
  "steps": [{ "step": "memory", "because": "fresh" }], "nearest": [] }
\`\`\`

- \`outcome\` has the \`X-Cache\` and [\`detail\`](cache-status.md) of the answer, without the reasons that only the origin's answer can
  give.
- \`steps\` say, where the origin is asked, what its answer changes: \`revalidate\` (304: \`REVALIDATED\`), \`stale-if-error\` (it fails:
  \`STALE\`), \`part\`, and \`store\` with \`no\`, \`yes\` or the condition; as which \`client\` it would wait for a place; \`origin-busy\`
  (others wait there), \`queue-full\` (no more may), \`origin-down\`. Where a server [compresses](../server.md#compression), a last
  step \`coding\` says in which coding the page goes out, or why plain.
- \`lastRefusal\` says why and when the page's last answer was not stored, as far as this isolate, or any worker of a server,
  remembers.
- \`purge\` is the purge that touched what is stored: its \`seq\`, what it has \`made\` of the page (\`purged\`, \`soft\`, \`invalidated\`), and
  its row of the audit trail.
- \`nearest\` are up to three keys in this isolate's memory with the same path but for scheme, letter case and a final slash.

It is the answer of one isolate: others may hold other pages. A server with several workers names the one that answers (\`worker\`).
Country and address of the pretended request are those of the caller. A request without \`Accept-Encoding\` selects no encoded page,
so the command sends a browser's. Whether a body that is [stored apart](../http.md#bodies-and-ranges) is still there shows only when
it is read.

It knows GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS, and no other method. It predicts no refusal of a request for its fields
(400, 417, 431, 508), and sees no full queue if \`queue.maxWaiting\` is 0.`;

const ERRORS = `## Errors

The API refuses with \`application/problem+json\` (RFC 9457); \`type\` is \`urn:tidemark:problem:<code>\`, and the client's errors carry
the same [\`code\`](../settings.md#errors-of-the-api). After \`unavailable\` the purge may have happened: send it again with the same
\`id\`, after \`Retry-After\`. The edge's own answers to visitors are [another list](cache-status.md#the-edges-own-answers).`;
