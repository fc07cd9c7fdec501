import { isSite } from "../docs/site-blocks.ts";
import type { Block } from "./blocks.ts";

/** Says of some blocks which test runs them, or why none does. */
export type Claim = {
  readonly page: RegExp;
  readonly language: string;
  /** Of the page's blocks in that language, those that fit. Default: those that contain `text`. */
  readonly fits?: (block: Block) => boolean;
  readonly text?: string;
} & ({ readonly runIn: string } | { readonly notRun: string });

const PURGING = /^docs\/purging\.md$/;
const SITES = /^docs\/sites\.md$/;
const README = /^README\.md$/;
const HTTP_API = /^docs\/reference\/http-api\.md$/;
const TOOLS = /^docs\/tools\.md$/;
const STARTED = /^docs\/getting-started\.md$/;
const SERVER = /^docs\/server\.md$/;
const OPERATIONS = /^docs\/operations\.md$/;
const RELEASE = /^docs\/release\.md$/;

const SHELL = "test/snippets/shell.test.ts";
const TYPESCRIPT = "test/snippets/typescript.test.ts";

export const CLAIMS: readonly Claim[] = [
  // Every page: `test/docs/readme.test.ts` compiles each site.
  { page: /./, language: "ts", fits: isSite, runIn: "test/docs/readme.test.ts" },
  { page: /^docs\/reference\//, language: "ts", fits: () => true, notRun: "declarations, made from the sources" },

  { page: README, language: "ts", text: "createEdge(site)", runIn: "test/snippets/workers.test.ts" },
  { page: README, language: "ts", text: "receipt.settled()", runIn: TYPESCRIPT },
  {
    page: README,
    language: "sh",
    text: "npm install ../tidemark",
    notRun: "it needs a folder beside the clone; test/packed/new-site.test.ts does the same with the packed package",
  },
  {
    page: README,
    language: "sh",
    text: "npm ci && npm run dev",
    notRun: "it does what a clone needs before any test; test/demo runs the demo site",
  },
  { page: README, language: "sh", text: "curl -X POST", runIn: SHELL },
  { page: README, language: "sh", text: "npx wrangler deploy", runIn: SHELL },

  { page: STARTED, text: '"/ping"', language: "ts", runIn: "test/snippets/workers.test.ts" },
  { page: STARTED, text: "npx wrangler deploy", language: "sh", runIn: SHELL },
  { page: STARTED, text: "tidemark serve --origin http://", language: "sh", runIn: SHELL },
  { page: STARTED, text: "{ service:", language: "ts", runIn: "test/runtime/wrangler-dev.test.ts" },
  { page: STARTED, text: "[[services]]", language: "toml", runIn: "test/runtime/wrangler-dev.test.ts" },
  {
    page: STARTED,
    language: "toml",
    fits: ({ code }) => !code.includes("[[services]]"),
    runIn: "test/snippets/workers.test.ts",
  },
  { page: HTTP_API, language: "json", text: '"settlesInMs"', runIn: TYPESCRIPT },
  { page: HTTP_API, language: "json", text: '"steps"', runIn: "test/snippets/explain-answer.test.ts" },
  { page: HTTP_API, language: "sh", text: "/_tidemark/purge", runIn: SHELL },
  {
    page: HTTP_API,
    language: "console",
    fits: () => true,
    notRun: "a sample of a site; test/cli/stats.test.ts and test/cli/explain.test.ts have such answers in words",
  },
  {
    page: /^docs\/reference\/cache-status\.md$/,
    language: "console",
    text: "cache-status:",
    notRun: "a sample of a site; the scenarios in test/scenarios compare these fields",
  },
  { page: TOOLS, language: "nginx", fits: () => true, runIn: "test/docs/tools/import-run.test.ts" },
  { page: TOOLS, language: "console", text: "npx tidemark import", runIn: "test/docs/tools/import-run.test.ts" },
  { page: TOOLS, language: "console", text: "npx tidemark audit", runIn: "test/docs/tools/audit-run.test.ts" },
  { page: TOOLS, language: "text", fits: () => true, runIn: "test/docs/tools/written-runs.test.ts" },
  {
    page: TOOLS,
    language: "sh",
    text: "npx tidemark report /var",
    notRun: "it reads logs of a site; test/docs/commands.test.ts checks its flags, and the runs below it are made anew",
  },
  {
    page: TOOLS,
    language: "sh",
    text: "npx tidemark crawl",
    notRun:
      "it asks a site for its pages; test/docs/commands.test.ts checks its flags, and the runs below it are made anew",
  },
  ...["SQLite", "PostgreSQL", "Purges that were given up"].map((name) => ({
    page: PURGING,
    language: "ts",
    fits: ({ heading }: Block) => heading === name,
    runIn: "test/snippets/outbox-page.test.ts",
  })),
  ...["export async function importSongs", "endpoints: [", "defineTags", "findUntagged", "@opentelemetry/api"].map(
    (text) => ({ page: PURGING, language: "ts", text, runIn: "test/snippets/purge-client.test.ts" }),
  ),

  ...["Express", "Fastify", "Hono"].map((name) => ({
    page: PURGING,
    language: "ts",
    text: `from "tidemark/${name.toLowerCase()}"`,
    runIn: "test/backends/javascript.test.ts",
  })),
  {
    page: PURGING,
    language: "js",
    fits: ({ heading }) => heading === "SvelteKit",
    runIn: "test/backends/javascript.test.ts",
  },
  { page: PURGING, language: "vue", text: "pages/songs/[id].vue", runIn: "test/backends/javascript.test.ts" },
  { page: PURGING, language: "js", fits: ({ heading }) => heading === "Next", runIn: "test/backends/next.test.ts" },
  { page: PURGING, language: "ts", text: "cdn.purges({ limit: 20 })", runIn: TYPESCRIPT },
  { page: PURGING, language: "ts", text: "createRecordingPurger", runIn: TYPESCRIPT },
  { page: PURGING, language: "python", text: "def purge_cdn_urls", runIn: "test/snippets/python-example.test.ts" },
  { page: PURGING, language: "console", text: "purge_cdn_urls.py", runIn: SHELL },
  {
    page: PURGING,
    language: "python",
    fits: ({ heading }) => heading === "Django",
    runIn: "test/backends/django-site/songs/tests.py",
  },
  { page: PURGING, language: "python", text: "Purger(", runIn: "test/backends/python.test.ts" },
  { page: PURGING, language: "ruby", text: "after_commit", runIn: "test/snippets/ruby.test.ts" },
  { page: PURGING, language: "ts", text: "instance.plugins", runIn: "test/control/vendor-apis/clients.test.ts" },
  {
    page: PURGING,
    language: "python",
    fits: ({ heading }) => heading === "Wagtail",
    runIn: "test/control/vendor-apis/clients.test.ts",
  },
  { page: PURGING, language: "sh", fits: ({ code }) => !code.includes("pip install"), runIn: SHELL },
  {
    page: PURGING,
    language: "sh",
    text: "pip install",
    notRun: "it installs a file of a release, which test/release/reproducible.test.ts makes",
  },

  ...(["python", "ruby", "sh"] as const).map((language) => ({
    page: STARTED,
    language,
    fits: ({ code }: Block) => language !== "sh" || code.includes("gunicorn --daemon"),
    runIn: "test/server/serve/application-servers.test.ts",
  })),
  {
    page: OPERATIONS,
    language: "sh",
    text: "tar --extract",
    notRun: "it writes to /opt; test/server/serve/operation/upgrade.test.ts sends the signal",
  },
  { page: SERVER, language: "sh", text: "tidemark serve", runIn: SHELL },
  {
    page: SERVER,
    language: "sh",
    text: "certbot certonly",
    notRun: "it asks an authority for a certificate; test/server/serve/tls.test.ts sends SIGHUP after a change",
  },
  ...["nginx", "caddyfile"].map((language) => ({
    page: STARTED,
    language,
    fits: () => true,
    runIn: "test/server/serve/beside-nginx.test.ts",
  })),
  { page: STARTED, language: "sh", text: "apt-get install", runIn: "test/release/debian.test.ts" },
  { page: STARTED, language: "sh", text: "TIDEMARK_OPTIONS", runIn: SHELL },
  {
    page: STARTED,
    language: "sh",
    text: "tar --extract",
    notRun: "it writes to /opt; test/release/archive.test.ts runs the archive elsewhere",
  },
  {
    page: STARTED,
    language: "sh",
    text: "docker run",
    notRun: "it needs a Docker engine; test/release/image.test.ts runs the image without one",
  },
  {
    page: STARTED,
    language: "sh",
    text: "kubectl apply",
    notRun: "it needs a cluster; test/release/image.test.ts compares the manifest with the schemas",
  },
  ...["tidemark_0.2.0_amd64.deb", "--allow-downgrades"].map((text) => ({
    page: OPERATIONS,
    language: "sh",
    text,
    notRun: "it installs another version; test/release/debian.test.ts upgrades the package",
  })),
  ...["wrangler rollback", "sha256sum", "cache-status|age", 'explain "/plog', "tidemark backup"].map((text) => ({
    page: OPERATIONS,
    language: "sh",
    text,
    runIn: SHELL,
  })),
  {
    page: OPERATIONS,
    language: "sh",
    text: "tidemark restore",
    notRun:
      "it is about the folder of a running system; test/server/serve/disks/backup.test.ts copies and restores a log",
  },
  { page: RELEASE, language: "sh", text: "git push", notRun: "it publishes" },
  {
    page: RELEASE,
    language: "sh",
    text: "gh release download",
    notRun: "no release is published yet; test/release/reproducible.test.ts compares two builds",
  },
  {
    page: SITES,
    language: "python",
    fits: ({ heading }) => heading === "Django",
    runIn: "test/backends/django-site/songs/tests.py",
  },
  { page: SITES, language: "sh", text: "gunicorn.service.d", runIn: SHELL },
  { page: SITES, language: "sh", text: "TIDEMARK_OPTIONS", runIn: SHELL },
  { page: SITES, language: "ruby", text: "expires_in", runIn: "test/snippets/ruby.test.ts" },
  { page: SITES, language: "ruby", text: "allowed_request_origins", runIn: "test/snippets/ruby.test.ts" },
  { page: SITES, language: "erb", text: "csrf_meta_tags", runIn: "test/snippets/ruby.test.ts" },
  { page: SITES, language: "php", fits: () => true, runIn: "test/snippets/php.test.ts" },
  { page: SITES, language: "ts", text: "saveUninitialized: false }", runIn: TYPESCRIPT },
  { page: SITES, language: "ts", text: "revalidatePath", runIn: TYPESCRIPT },
  { page: SITES, language: "ts", text: "tagResponse(response", runIn: TYPESCRIPT },
  { page: /^docs\/testing\.md$/, language: "ts", fits: () => true, runIn: "test/snippets/testing-page.test.ts" },
  {
    page: /^docs\/testing\.md$/,
    language: "sh",
    text: "npm install",
    notRun: "it fetches from npm what the tests have as dependencies",
  },
];

/** Whether a claim is about a block. */
export function isClaimed(block: Block, { page, language, fits, text }: Claim): boolean {
  if (!page.test(block.page) || language !== block.language) return false;
  return fits ? fits(block) && (language !== "ts" || fits === isSite || !isSite(block)) : block.code.includes(text!);
}
