import { PURGE_LOG_TOML } from "../../wire/purge-log-binding.ts";
import type { EdgeNames } from "./found-tools.ts";
import type { SiteAnswers } from "./site-answers.ts";

/** The newest date that the tested runtime accepts is later. */
const COMPATIBILITY_DATE = "2026-07-30";

/** The worker's entry: one line for the edge, and the class of its purge log. `ending`: that of imports. */
export function workerFile(ending: string): string {
  return `import { createEdge } from "tidemark/worker";
import site from "./tidemark.config${ending}";

export { PurgeLog } from "tidemark/worker";
export default createEdge(site);
`;
}

export function configFile({ origin, host, passed }: SiteAnswers): string {
  const routes = passed.map((path) => `    { match: ${JSON.stringify(`${path}{/*}?`)}, pass: true },`);
  return `import { defineSite } from "tidemark/worker";

/** A page is stored if the origin's Cache-Control says so, or if a route gives it a lifetime. */
export default defineSite({
  // Where the site really is.
  origin: ${JSON.stringify(origin)},

  // The public hosts. All others are answered 421.
  hosts: [${JSON.stringify(host)}],

  // In order; the first that matches wins. What none matches obeys the origin.
  routes: [
${routes.length > 0 ? `    // Never stored, and sent to the origin as it is.\n${routes.join("\n")}\n` : ""}    // { match: "/blog/:slug", defaultTtl: "1h", tags: ["blog", "blog:{slug}"] },
  ],
});
`;
}

export function wranglerFile({ host }: SiteAnswers, name: string, { worker, suffix, configFlag }: EdgeNames): string {
  return `name = ${JSON.stringify(suffix === "" ? name : `${name}-edge`)}
main = "${worker}"
compatibility_date = "${COMPATIBILITY_DATE}"
minify = true
keep_names = false

# The domain that visitors use. It has to be in your Cloudflare account: on workers.dev nothing is stored.
routes = [{ pattern = ${JSON.stringify(host)}, custom_domain = true }]
workers_dev = false

# A mistake in tidemark.config.ts or in this file ends \`wrangler deploy\` before anything is deployed.
[build]
command = "npx --no tidemark check${configFlag}"
watch_dir = ["tidemark.config.ts", "${worker}"] # what \`wrangler dev\` reloads at an edit

# The purge log. Keep these names: in a renamed log every earlier purge would be lost.
${PURGE_LOG_TOML}`;
}

/** The variables that `wrangler dev` adds to the worker's on this machine. */
export function devVariables(token: string): string {
  return `# For wrangler dev on this machine alone. Keep it out of version control.
# The token of a deployed edge is another one: npx wrangler secret put TIDEMARK_TOKEN
TIDEMARK_TOKEN="${token}"
# Any host, so that http://localhost:8787 is served too.
TIDEMARK_HOSTS="*"
# To front a site on this machine:
# TIDEMARK_ORIGIN="http://localhost:8000"
`;
}

/** `worker`: the name of the worker's entry. */
export const tsconfigFile = (worker: string) => `{
  "compilerOptions": {
    "target": "es2024",
    "lib": ["es2024", "esnext.disposable"],
    "module": "esnext",
    "moduleResolution": "bundler",
    "types": ["@cloudflare/workers-types", "node"],
    "allowImportingTsExtensions": true,
    "noEmit": true,
    "strict": true,
    "skipLibCheck": true
  },
  "include": ["${worker}", "tidemark.config.ts", "test/edge.test.ts"]
}
`;

/** The edge's test for vitest, in Node whatever the project's own tests run in. */
export function testFile({ passed }: SiteAnswers, wrangler: string): string {
  const never = passed.map((path) => `  await expect(cdn).toNeverStore(${JSON.stringify(`${path}/*`)});`);
  const passTest = `
test("what is private is never stored, whatever the origin says", async () => {
${never.join("\n")}
}, 60_000);
`;
  return `// @vitest-environment node
import "tidemark/local/matchers";
import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The worker of ${wrangler} in two places, with an origin that says what a test tells it to. Its time is its own. */
let cdn: Cdn<"fra" | "syd">;

beforeAll(async () => {
  cdn = await startCdn({ config: "${wrangler}", regions: ["fra", "syd"] });
}, 60_000);

afterAll(() => cdn?.close());

test("a page is stored where it was asked for, and a purge reaches it everywhere", async () => {
  const page = (body: string) => ({ fields: { "cache-control": "public, max-age=3600" }, body });
  cdn.origin.reply("/hello", page("old"), page("old"), page("new"));
  await cdn.get("/hello", { from: "fra" });
  await cdn.get("/hello", { from: "syd" });
  await expect(cdn.get("/hello", { from: "syd" })).toHit();

  await cdn.settle(await cdn.purger.purgeUrls("/hello"));
  await expect(cdn.get("/hello", { from: "syd" })).toNeverShow("old");
}, 60_000);
${never.length > 0 ? passTest : ""}`;
}

/** The same for Node's own runner, in a file that no other runner takes for its own. */
export function nodeTestFile({ passed }: SiteAnswers, wrangler: string): string {
  const never = passed.map((path) => `  await assertNeverStores(cdn, ${JSON.stringify(`${path}/*`)});`);
  const passTest = `
test("what is private is never stored, whatever the origin says", async () => {
${never.join("\n")}
});
`;
  return `import { after, before, test } from "node:test";
import { assertHit, assertNeverShows${never.length > 0 ? ", assertNeverStores" : ""}, startCdn } from "tidemark/local";

/** The worker of ${wrangler} in two places, with an origin that says what a test tells it to. Its time is its own. */
let cdn;

before(async () => {
  cdn = await startCdn({ config: "${wrangler}", regions: ["fra", "syd"] });
});

after(() => cdn?.close());

test("a page is stored where it was asked for, and a purge reaches it everywhere", async () => {
  const page = (body) => ({ fields: { "cache-control": "public, max-age=3600" }, body });
  cdn.origin.reply("/hello", page("old"), page("old"), page("new"));
  await cdn.get("/hello", { from: "fra" });
  await cdn.get("/hello", { from: "syd" });
  await assertHit(cdn.get("/hello", { from: "syd" }));

  await cdn.settle(await cdn.purger.purgeUrls("/hello"));
  await assertNeverShows(cdn.get("/hello", { from: "syd" }), "old");
});
${never.length > 0 ? passTest : ""}`;
}
