import type { bundleFindings } from "../../../cli/check/bundle-findings.ts";
import type { Finding } from "../../../cli/check/check-report.ts";
import type { siteFindings } from "../../../cli/check/site-findings.ts";
import type { WranglerSettings, wranglerFindings } from "../../../cli/check/wrangler-settings.ts";
import type { SiteReview } from "../../../wire/site-review.ts";

/** The rules of `tidemark check`, from these sources or from mutated ones. */
export interface CheckRules {
  readonly wranglerFindings: typeof wranglerFindings;
  readonly siteFindings: typeof siteFindings;
  readonly bundleFindings: typeof bundleFindings;
}

/** What the rules must find in a project that is sound but for this. */
export interface FindingCase {
  readonly name: string;
  /** Default: `wrangler.toml`. */
  readonly file?: string;
  readonly settings?: Partial<WranglerSettings>;
  readonly review?: Partial<SiteReview>;
  readonly exported?: readonly string[] | null;
  readonly gzippedBytes?: number;
  /** Each finding as `level  where: message`, in order. */
  readonly finds: readonly RegExp[];
}

const SETTINGS: WranglerSettings = {
  environment: null,
  main: "/site/worker.ts",
  minify: true,
  keepNames: false,
  compatibilityDate: "2024-04-03",
  compatibilityFlags: [],
  define: {},
  alias: {},
  vars: {},
  variables: {},
  services: [],
  routedHosts: ["www.example.com"],
  isOnWorkersDev: false,
  isCached: false,
  purgeLog: { class_name: "PurgeLog" },
  migrations: [{ new_sqlite_classes: ["PurgeLog"] }],
  exports: {},
  replacedBy: null,
};

const SQLITE = { type: "durable-object", storage: "sqlite" };

const REVIEW: SiteReview = {
  errors: [],
  originUrl: "https://origin.example.com",
  originService: null,
  namesHosts: true,
  hosts: ["www.example.com"],
  shadowed: [],
  slow: [],
  weakened: [],
};

const MEBIBYTE = 1024 ** 2;

export const findingCases: readonly FindingCase[] = [
  { name: "a sound project", finds: [] },
  {
    name: "a worker in the origin's place",
    settings: { services: ["APP"] },
    review: { originUrl: "http://app.service", originService: "APP" },
    finds: [],
  },
  {
    name: "a worker in the origin's place without a binding",
    settings: { services: ["API"] },
    review: { originUrl: "http://app.service", originService: "APP" },
    finds: [
      /^problem {2}wrangler\.toml: the origin is the service APP, but there is no binding of that name: add \[\[services\]\]/,
    ],
  },
  {
    name: "an app that would be deployed in its place",
    settings: { replacedBy: "dist/server/wrangler.json" },
    finds: [
      /^problem {2}wrangler\.toml: .* dist\/server\/wrangler\.json instead, .* wrangler\.edge\.toml, .* --config/,
    ],
  },
  {
    name: "a cache of Cloudflare's before the edge",
    settings: { isCached: true },
    finds: [/^problem {2}wrangler\.toml: cache\.enabled puts Workers Cache before the edge, .* Remove it\.$/],
  },
  {
    name: "no binding",
    settings: { purgeLog: null },
    finds: [/^problem {2}wrangler\.toml: there is no binding PURGE_LOG, .*\. Add:\n\n\[\[durable_objects/],
  },
  {
    name: "no binding in an environment",
    settings: { purgeLog: null, environment: "staging" },
    finds: [/^problem {2}wrangler\.toml, env\.staging: .* do not inherit .*\[\[env\.staging\.durable_objects/s],
  },
  {
    name: "a class that the worker does not export",
    exported: ["default"],
    finds: [/^problem .*names the class PurgeLog, which worker\.ts does not export/],
  },
  { name: "a worker that did not run", exported: null, finds: [] },
  { name: "a class of another worker", settings: { purgeLog: { class_name: "Log", script_name: "edge" } }, finds: [] },
  { name: "no migration", settings: { migrations: [] }, finds: [/^problem .*there is no class PurgeLog.*tag = "v1"/s] },
  {
    name: "a migration of another class",
    settings: { migrations: [{ new_sqlite_classes: ["Other"] }] },
    finds: [/^problem .*there is no class PurgeLog.*tag = "v2"/s],
  },
  {
    name: "a class that was renamed",
    settings: { migrations: [{ new_sqlite_classes: ["Log"] }, { renamed_classes: [{ from: "Log", to: "PurgeLog" }] }] },
    finds: [],
  },
  {
    name: "a class that was renamed, by migrations of which the first are gone",
    settings: { migrations: [{ renamed_classes: [{ from: "Log", to: "PurgeLog" }] }] },
    finds: [],
  },
  {
    name: "a class that is renamed away",
    settings: {
      migrations: [{ new_sqlite_classes: ["PurgeLog"] }, { renamed_classes: [{ from: "PurgeLog", to: "Log" }] }],
    },
    finds: [/^problem .*rename the class PurgeLog to Log, .* Let the binding PURGE_LOG name Log\.$/],
  },
  {
    name: "a class that is renamed away twice",
    settings: {
      migrations: [
        { new_sqlite_classes: ["PurgeLog"] },
        { renamed_classes: [{ from: "PurgeLog", to: "Log" }] },
        { renamed_classes: [{ from: "Log", to: "SiteLog" }] },
      ],
    },
    finds: [/^problem .*rename the class PurgeLog to SiteLog, .* Let the binding PURGE_LOG name SiteLog\.$/],
  },
  {
    name: "a class that is renamed away, and made again",
    settings: {
      migrations: [
        { new_classes: ["PurgeLog"] },
        { renamed_classes: [{ from: "PurgeLog", to: "Log" }], new_sqlite_classes: ["PurgeLog"] },
      ],
    },
    finds: [],
  },
  {
    name: "a class that is renamed away, and deleted",
    settings: {
      migrations: [
        { new_sqlite_classes: ["PurgeLog"] },
        { renamed_classes: [{ from: "PurgeLog", to: "Log" }] },
        { deleted_classes: ["Log"] },
      ],
    },
    finds: [/^problem .*there is no class PurgeLog.*tag = "v4"/s],
  },
  {
    name: "a class that is deleted",
    settings: { migrations: [{ new_sqlite_classes: ["PurgeLog"] }, { deleted_classes: ["PurgeLog"] }] },
    finds: [/^problem .*there is no class PurgeLog.*tag = "v3"/s],
  },
  {
    name: "a class without SQLite that is deleted, and made again with it",
    settings: {
      migrations: [
        { new_classes: ["PurgeLog"] },
        { deleted_classes: ["PurgeLog"] },
        { new_sqlite_classes: ["PurgeLog"] },
      ],
    },
    finds: [],
  },
  {
    name: "a class without SQLite that a later migration makes with it",
    settings: { migrations: [{ new_classes: ["PurgeLog"] }, { new_sqlite_classes: ["PurgeLog"] }] },
    finds: [/^problem .*makes PurgeLog without SQLite/],
  },
  {
    name: "a class of another worker that is transferred here",
    settings: { migrations: [{ transferred_classes: [{ from: "Log", to: "PurgeLog" }] }] },
    finds: [],
  },
  {
    name: "a class without SQLite that was renamed",
    settings: { migrations: [{ new_classes: ["Log"] }, { renamed_classes: [{ from: "Log", to: "PurgeLog" }] }] },
    finds: [/^problem .*makes Log, now PurgeLog, without SQLite.* new_sqlite_classes = \["Log"\] instead/],
  },
  {
    name: "a migration without SQLite",
    settings: { migrations: [{ new_classes: ["PurgeLog"] }] },
    finds: [/^problem .*makes PurgeLog without SQLite/],
  },
  {
    name: "no binding in a file of JSON",
    file: "wrangler.jsonc",
    settings: { purgeLog: null },
    finds: [/^problem {2}wrangler\.jsonc: .* Add:\n\n"durable_objects": \{.*\},\n"migrations": \[/],
  },
  {
    name: "no migration in a file of JSON",
    file: "wrangler.jsonc",
    settings: { migrations: [{ new_sqlite_classes: ["Other"] }] },
    finds: [
      /^problem .*there is no class PurgeLog.* Add to the list migrations:\n\n\{ "tag": "v2", "new_sqlite_classes": \["PurgeLog"\] \}$/,
    ],
  },
  { name: "a class that exports creates", settings: { migrations: [], exports: { PurgeLog: SQLITE } }, finds: [] },
  ...["created", "expecting-transfer"].map((state) => ({
    name: `a class of exports that is ${state}`,
    settings: { migrations: [], exports: { PurgeLog: { ...SQLITE, state } } },
    finds: [],
  })),
  {
    name: "exports with an entrypoint alone",
    settings: { migrations: [], exports: { default: { type: "worker" } } },
    finds: [/^problem .*there is no class PurgeLog.*tag = "v1"/s],
  },
  {
    name: "no binding beside exports",
    settings: { purgeLog: null, migrations: [], exports: { PurgeLog: SQLITE } },
    finds: [/^problem .*there is no binding PURGE_LOG, .*class_name = "PurgeLog"\n$/s],
  },
  {
    name: "exports of another class",
    settings: { migrations: [], exports: { Other: SQLITE } },
    finds: [
      /^problem .*exports does not create the class PurgeLog, .*\n\nPurgeLog = \{ type = "durable-object", storage/,
    ],
  },
  {
    name: "exports of another class in a file of JSON",
    file: "wrangler.json",
    settings: { migrations: [], exports: { Other: SQLITE } },
    finds: [/^problem .*\n\n"PurgeLog": \{ "type": "durable-object", "storage": "sqlite" \}$/],
  },
  {
    name: "a class of exports that is gone",
    settings: {
      migrations: [],
      exports: { PurgeLog: { type: "durable-object", state: "deleted" }, Other: SQLITE },
    },
    finds: [/^problem .*exports does not create the class PurgeLog/],
  },
  {
    name: "a class of exports without SQLite",
    settings: { migrations: [], exports: { PurgeLog: { type: "durable-object", storage: "legacy-kv" } } },
    finds: [/^problem .*exports makes PurgeLog without SQLite/],
  },
  {
    name: "a token that everybody can read",
    settings: { vars: { TIDEMARK_TOKEN: "secret" } },
    finds: [/^problem .*vars has TIDEMARK_TOKEN/],
  },
  {
    name: "a variable that is almost one of Workers, and others that are only almost one of a server or a command",
    settings: { vars: { TIDEMARK_HOST: "", TIDEMARK_BLOG: "", TIDEMARK_AGENT: "", TIDEMARK_ROOT: "" } },
    finds: [
      /^problem {2}wrangler\.toml, vars: TIDEMARK_HOST: unknown variable; did you mean TIDEMARK_HOSTS\?$/,
      /^warning {2}wrangler\.toml, vars: TIDEMARK_BLOG: unknown variable$/,
      /^warning {2}wrangler\.toml, vars: TIDEMARK_AGENT: unknown variable$/,
      /^warning {2}wrangler\.toml, vars: TIDEMARK_ROOT: unknown variable$/,
    ],
  },
  {
    name: "a date with which purges would fail",
    settings: { compatibilityDate: "2024-04-02" },
    finds: [/^problem .*compatibility_date is 2024-04-02, .* Write compatibility_date = "\d{4}-\d\d-\d\d"\.$/],
  },
  {
    name: "no date in a file of JSON",
    file: "wrangler.jsonc",
    settings: { compatibilityDate: undefined },
    finds: [/^problem .*there is no compatibility_date, .* Write "compatibility_date": "\d{4}-\d\d-\d\d"\.$/],
  },
  {
    name: "flags that take away what the edge needs",
    settings: { compatibilityFlags: ["nodejs_compat", "no_rpc", "no_http_headers_getsetcookie"] },
    finds: [
      /^problem .*compatibility_flags has no_rpc, .*/,
      /^problem .*has no_http_headers_getsetcookie, .*Remove it/,
    ],
  },
  {
    name: "no domain",
    settings: { routedHosts: null, isOnWorkersDev: true },
    finds: [/^warning .*workers\.dev, where the Cache API stores nothing/],
  },
  { name: "no domain, and not on workers.dev", settings: { routedHosts: null }, finds: [] },
  { name: "a domain beside workers.dev", settings: { isOnWorkersDev: true }, finds: [] },
  {
    name: "an error that a variable makes",
    settings: { vars: { TIDEMARK_ORIGIN: "https://www.example.com" } },
    review: { errors: [{ path: "origin", message: "is wrong" }], namesHosts: false },
    finds: [/^problem {2}wrangler\.toml, vars: origin: is wrong$/],
  },
  {
    name: "an error that no variable corrects",
    review: { errors: [{ path: "origin", message: "is wrong" }], namesHosts: false },
    finds: [/^problem {2}worker\.ts: origin: is wrong$/],
  },
  {
    name: "a route that never matches",
    review: { shadowed: [{ match: "/a", index: 3, by: { match: "/*", index: 1 } }] },
    finds: [/^problem {2}worker\.ts, routes\[3\]: \/a never matches, because routes\[1\], \/\*, comes first/],
  },
  {
    name: "an expression that may take exponential time",
    review: { slow: [{ place: "routes[1].match", expression: "/((a+)+)" }] },
    finds: [/^warning {2}worker\.ts, routes\[1\]\.match: \/\(\(a\+\)\+\) may take exponential time/],
  },
  ...[
    "http://localhost:8000",
    "https://127.0.0.1",
    "http://[::1]:80",
    "http://shop.localhost",
    "http://203.0.113.7:8000",
    "https://[2001:db8::7]",
  ].map((originUrl) => ({
    name: `the origin ${originUrl}`,
    review: { originUrl },
    finds: [/^warning {2}wrangler\.toml: the origin is .*, which a deployed edge cannot reach/],
  })),
  { name: "an origin with localhost in its name", review: { originUrl: "https://localhost.example.com" }, finds: [] },
  { name: "an origin with an address in its name", review: { originUrl: "https://203.0.113.7.example" }, finds: [] },
  ...[
    { compatibilityDate: "2024-09-01" },
    { compatibilityDate: "2024-09-02", compatibilityFlags: ["ignore_custom_ports"] },
  ].map((settings) => ({
    name: `an origin with a port that Workers ignore: ${JSON.stringify(settings)}`,
    settings,
    review: { originUrl: "https://origin.example.com:8443" },
    finds: [/^problem {2}wrangler\.toml: the origin is https:\/\/origin\.example\.com:8443, .* ignores its port/],
  })),
  ...[
    { compatibilityDate: "2024-09-02" },
    { compatibilityDate: "2024-09-01", compatibilityFlags: ["allow_custom_ports"] },
  ].map((settings) => ({
    name: `an origin with a port: ${JSON.stringify(settings)}`,
    settings,
    review: { originUrl: "https://origin.example.com:8443" },
    finds: [],
  })),
  { name: "no host", review: { namesHosts: false, hosts: null }, finds: [/^problem .*no public host is named/] },
  { name: "any host", review: { hosts: null }, finds: [/^warning .*TIDEMARK_HOSTS is "\*"/] },
  {
    name: "a route to a host that the site does not have",
    settings: { routedHosts: ["www.example.com", "shop.example.com", "*.example.com"] },
    finds: [/^problem .*routes sends shop\.example\.com here, but hosts is www\.example\.com, .*421/],
  },
  { name: "no route", settings: { routedHosts: null }, finds: [] },
  { name: "a bundle that the free plan takes", gzippedBytes: 3 * MEBIBYTE, finds: [] },
  {
    name: "a bundle that the paid plan takes",
    gzippedBytes: 3 * MEBIBYTE + 1,
    finds: [/^warning .*3072\.0 KiB gzipped, but the free plan accepts at most 3072\.0 KiB/],
  },
  { name: "the largest bundle", gzippedBytes: 10 * MEBIBYTE, finds: [/^warning .*the free plan accepts/] },
  {
    name: "a bundle that no plan takes",
    gzippedBytes: 10 * MEBIBYTE + 1,
    finds: [/^problem .*Cloudflare accepts at most 10240\.0 KiB\. Import less/],
  },
];

/** What rules find in a case that they should not, or do not find; `null` if they are right. */
export function differenceOf(rules: CheckRules, each: FindingCase): string | null {
  const settings = { ...SETTINGS, ...each.settings };
  const { exported = ["default", "PurgeLog"] } = each;
  const found: readonly Finding[] = [
    ...rules.wranglerFindings(each.file ?? "wrangler.toml", settings, exported),
    ...rules.siteFindings("wrangler.toml", "worker.ts", settings, { ...REVIEW, ...each.review }),
    ...rules.bundleFindings("wrangler.toml", each.gzippedBytes ?? 100_000),
  ];
  const lines = found.map(({ level, where, message }) => `${level}  ${where}: ${message}`);
  const isRight =
    lines.length === each.finds.length && each.finds.every((pattern, index) => pattern.test(lines[index]!));
  return isRight ? null : lines.join("\n") || "nothing was found";
}
