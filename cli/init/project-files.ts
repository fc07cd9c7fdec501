import { COMPATIBILITY_DATE } from "../../package/compatibility-date.ts";
import { addressInConfig, readSocket, socketComment } from "../../package/unix-socket.ts";
import { PURGE_LOG_TOML } from "../../wire/purge-log-binding.ts";
import type { AppWorker } from "./app-worker.ts";
import type { EdgeNames } from "./found-tools.ts";
import type { SiteAnswers } from "./site-answers.ts";

/** The binding by which the edge asks an app that is a worker. */
const APP_BINDING = "APP";

/** How a config names its origin. */
export function originText(origin: string | null): string {
  return origin === null ? `{ service: "${APP_BINDING}" }` : JSON.stringify(addressInConfig(origin));
}

/** The worker's entry: one line for the edge, and the class of its purge log. `ending`: that of imports. */
export function workerFile(ending: string): string {
  return `import { createEdge } from "tidemark/worker";
import site from "./tidemark.config${ending}";

export { PurgeLog } from "tidemark/worker";
export default createEdge(site);
`;
}

export function configFile({ origin, host, passed }: SiteAnswers): string {
  const routes = passed.map(
    (path) => `    { match: ${JSON.stringify(path === "" ? "/*" : `${path}{/*}?`)}, pass: true },`,
  );
  const comment = () => {
    if (origin === null) return "// The app's own worker, by its binding in the edge's wrangler config.";
    return readSocket(origin) === null ? "// Where the site really is." : socketComment(origin);
  };
  return `import { defineSite } from "tidemark/worker";

/** A page is stored if the origin's Cache-Control says so, or if a route gives it a lifetime. */
export default defineSite({
  ${comment()}
  origin: ${originText(origin)},

  // The public hosts. All others are answered 421.
  hosts: [${JSON.stringify(host)}],

  // The first route that matches applies. Where none matches, the origin's fields decide.
  routes: [
${routes.length > 0 ? `    // Never stored, and sent to the origin as it is.\n${routes.join("\n")}\n` : ""}    // { match: "/blog/:slug", defaultTtl: "1h", tags: ["blog", "blog:{slug}"] },
  ],
});
`;
}

/** `app`: the name of the worker that the edge asks; `null` for an address. `build`: the command that checks the edge. */
export function wranglerFile(
  { host }: SiteAnswers,
  name: string,
  { worker, suffix }: EdgeNames,
  app: string | null,
  build: string,
): string {
  const services = `# The app's worker, which the edge asks instead of an origin.
[[services]]
binding = "${APP_BINDING}"
service = ${JSON.stringify(app)}

`;
  return `name = ${JSON.stringify(suffix === "" ? name : `${name}-edge`)}
main = "${worker}"
compatibility_date = "${COMPATIBILITY_DATE}"
minify = true
keep_names = false

# The domain that visitors use. It must be in your Cloudflare account: on workers.dev nothing is stored.
routes = [{ pattern = ${JSON.stringify(host)}, custom_domain = true }]
workers_dev = false

# A mistake in tidemark.config.ts or in this file stops \`wrangler deploy\` before it deploys anything.
[build]
command = "${build}"
watch_dir = ["tidemark.config.ts", "${worker}"] # \`wrangler dev\` reloads when one of these changes

${app === null ? "" : services}# The purge log. Keep these names: a renamed log would lose every earlier purge.
${PURGE_LOG_TOML}`;
}

/** The variables that `wrangler dev` adds to the worker's on this machine. */
export function devVariables(token: string): string {
  return `# For wrangler dev on this machine only. Keep this file out of version control.
# Give a deployed edge another token: npx wrangler secret put TIDEMARK_TOKEN
TIDEMARK_TOKEN="${token}"
# Any host, so that http://localhost:8787 is served too. If wrangler's config has routes, wrangler dev gives each request
# their host: purge that, or a path.
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

/** The test of the edge in front of an app, for either runner. `wrangler`: the edge's config. */
const throughTheEdge = (app: AppWorker, wrangler: string, claims: string) => `
test("the app's front page comes through the edge", async () => {
  const app = await unstable_startWorker({
    config: "${app.config}",
    dev: { server: { port: 0 }, inspector: false, watch: false },
  });
  const edge = await startCdn({ config: "${wrangler}", origin: await app.url });
  try {
    const { status, xCache, body } = await edge.get("/");
${claims}
  } finally {
    await edge.close();
    await app.dispose();
  }
}`;

/** What the edge's test tries. */
interface Tried {
  /** The edge's config. */
  readonly wrangler: string;
  /** The worker behind the edge that the test can start; `null` for none. */
  readonly app: AppWorker | null;
  /** The path of a page that is stored; `null` if none is known. */
  readonly stored: string | null;
}

/** The paths of which the test says that they are not stored. */
function neverStored(passed: readonly string[], stored: string | null): readonly string[] {
  return [...passed.map((path) => `${path}/*`), ...(stored === null ? ["/hello"] : [])].map((each) =>
    JSON.stringify(each),
  );
}

/** The edge's test for vitest, which runs in Node whatever the environment of the project's other tests. */
export function testFile({ passed }: SiteAnswers, { wrangler, app, stored }: Tried): string {
  const never = neverStored(passed, stored).map((each) => `  await expect(cdn).toNeverStore(${each});`);
  const isStored = stored !== null && !passed.includes("");
  const page = JSON.stringify(stored);
  const storeTest = `
test("a page is stored in the region that requested it, and a purge removes it from all regions", async () => {
  const page = (body: string) => ({ fields: { "cache-control": "public, max-age=3600" }, body });
  cdn.origin.reply(${page}, page("old"), page("old"), page("new"));
  await cdn.get(${page}, { from: "fra" });
  await cdn.get(${page}, { from: "syd" });
  await expect(cdn.get(${page}, { from: "syd" })).toHit();

  await cdn.settle(await cdn.purger.purgeUrls(${page}));
  await expect(cdn.get(${page}, { from: "syd" })).toNeverShow("old");
}, 60_000);
`;
  const passTest = `
test("private paths are never stored, whatever the origin says", async () => {
${never.join("\n")}
}, 60_000);
`;
  return `// @vitest-environment node
import "tidemark/local/matchers";
import { type Cdn, startCdn } from "tidemark/local";
import { afterAll, beforeAll, expect, test } from "vitest";
${app === null ? "" : 'import { unstable_startWorker } from "wrangler";\n'}
/** The worker of ${wrangler} in two places, with an origin that answers what a test tells it, on simulated time. */
let cdn: Cdn<"fra" | "syd">;

beforeAll(async () => {
  cdn = await startCdn({ config: "${wrangler}", regions: ["fra", "syd"] });
}, 60_000);

afterAll(() => cdn?.close());
${isStored ? storeTest : ""}${never.length > 0 ? passTest : ""}${app === null ? "" : `${throughTheEdge(app, wrangler, CLAIMS)}, 60_000);\n`}`;
}

/** An answer that the edge has made itself, because the app gave none, has no `X-Cache`. */
const CLAIMS = `    expect(xCache, body).not.toBeNull(); // null: the app gave no answer, so the edge made one
    expect(status).toBeLessThan(500);`;

const NODE_CLAIMS = `    assert.notEqual(xCache, null, body); // null: the app gave no answer, so the edge made one
    assert.ok(status < 500, body);`;

/** The same for Node's own runner, in a file that no other runner picks up. */
export function nodeTestFile({ passed }: SiteAnswers, { wrangler, app, stored }: Tried): string {
  const never = neverStored(passed, stored).map((each) => `  await assertNeverStores(cdn, ${each});`);
  const isStored = stored !== null && !passed.includes("");
  const page = JSON.stringify(stored);
  const storeTest = `
test("a page is stored in the region that requested it, and a purge removes it from all regions", async () => {
  const page = (body) => ({ fields: { "cache-control": "public, max-age=3600" }, body });
  cdn.origin.reply(${page}, page("old"), page("old"), page("new"));
  await cdn.get(${page}, { from: "fra" });
  await cdn.get(${page}, { from: "syd" });
  await assertHit(cdn.get(${page}, { from: "syd" }));

  await cdn.settle(await cdn.purger.purgeUrls(${page}));
  await assertNeverShows(cdn.get(${page}, { from: "syd" }), "old");
});
`;
  const passTest = `
test("private paths are never stored, whatever the origin says", async () => {
${never.join("\n")}
});
`;
  return `${app === null ? "" : 'import assert from "node:assert/strict";\n'}import { after, before, test } from "node:test";
import { ${isStored ? "assertHit, assertNeverShows, " : ""}${never.length > 0 ? "assertNeverStores, " : ""}startCdn } from "tidemark/local";
${app === null ? "" : 'import { unstable_startWorker } from "wrangler";\n'}
/** The worker of ${wrangler} in two places, with an origin that answers what a test tells it, on simulated time. */
let cdn;

before(async () => {
  cdn = await startCdn({ config: "${wrangler}", regions: ["fra", "syd"] });
});

after(() => cdn?.close());
${isStored ? storeTest : ""}${never.length > 0 ? passTest : ""}${app === null ? "" : `${throughTheEdge(app, wrangler, NODE_CLAIMS)});\n`}`;
}
