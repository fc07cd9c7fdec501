import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as local from "../../local/index.ts";
import * as forExpress from "../../sdk/frameworks/express.ts";
import * as forFastify from "../../sdk/frameworks/fastify.ts";
import * as forHono from "../../sdk/frameworks/hono.ts";
import * as forNext from "../../sdk/frameworks/next.ts";
import * as respond from "../../sdk/frameworks/respond.ts";
import * as sdk from "../../sdk/index.ts";
import * as openNextConfig from "../../sdk/opennext/config.ts";
import * as outboxInPg from "../../sdk/outbox/pg.ts";
import * as outboxInSqlite from "../../sdk/outbox/sqlite.ts";
import * as sdkTesting from "../../sdk/testing.ts";
import { namesOfOthers, referencePages, shownMembers, WITHOUT_PAGE } from "./reference-pages.ts";

const pages = referencePages();

/** Names on a page that no page describes, because nobody has to know them. */
const UNDESCRIBED: Readonly<Record<string, string>> = {
  AnyIncrementalCache: "any incremental cache of OpenNext, which `withTags` returns with the same members",
  CacheHandlerClass: "any class of cache handlers, which `withPurge` returns as it was",
  CdnMatcherFunctions: "the form in which `expect.extend` takes the matchers",
  OwnerError: "an `Error` whose message is printed without its stack",
};

test("the reference is what `npm run docs` makes of the sources", () => {
  for (const { path, text } of pages) expect(readFileSync(path, "utf8")).toBe(text);
});

test("every entry of the package has a page, or a reason to have none", () => {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, unknown> };
  const entries = Object.keys(exports).map((entry) => entry.replace(/^\./, "tidemark"));
  expect([...pages.map(({ entry }) => entry), ...Object.keys(WITHOUT_PAGE)].sort()).toEqual(entries.sort());
});

test("the reference has every value that the entries export", () => {
  const named = new Map(
    pages.map(({ entry, exports }) => [
      entry,
      exports.flatMap(({ kind, name }) => (["Function", "Class", "Variable"].includes(kind) ? [name!] : [])).sort(),
    ]),
  );
  // Types of the simulated CDN that are classes: `startCdn` makes them, and nobody else can.
  const classes = ["Cdn", "Pop", "ScriptedOrigin", "SimulatedLog"];
  expect(Object.fromEntries(named)).toEqual({
    tidemark: Object.keys(sdk).sort(),
    "tidemark/testing": Object.keys(sdkTesting).sort(),
    "tidemark/outbox/sqlite": Object.keys(outboxInSqlite).sort(),
    "tidemark/outbox/pg": Object.keys(outboxInPg).sort(),
    "tidemark/express": Object.keys(forExpress).sort(),
    "tidemark/fastify": Object.keys(forFastify).sort(),
    "tidemark/hono": Object.keys(forHono).sort(),
    "tidemark/next": Object.keys(forNext).sort(),
    "tidemark/respond": Object.keys(respond).sort(),
    "tidemark/worker": ["PurgeLog", "SiteError", "createEdge", "defineSite"], // it loads on the Workers runtime alone
    "tidemark/opennext": ["TidemarkPurge", "behindEdge"], // so does it
    "tidemark/opennext/config": Object.keys(openNextConfig).sort(),
    "tidemark/local": [...Object.keys(local), ...classes].sort(),
    "tidemark/local/matchers": [],
  });
});

test("every exported name has a comment", () => {
  const bare = pages.flatMap(({ exports }) => exports.filter(({ docComment }) => docComment.trim() === ""));
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test("every setting of a site and of the simulated CDN has a comment, and says its default if it may be left out", () => {
  const isInput = (name: string | undefined) =>
    /Input$|Levels$|^(CdnSettings|CdnRequest|Reply|ServerReply)$/.test(name ?? "");
  const inputs = pages
    .filter(({ entry }) => entry === "tidemark/worker" || entry === "tidemark/local")
    .flatMap(({ exports }) => exports.filter(({ name }) => isInput(name)))
    .flatMap((each) =>
      shownMembers(each).map((member) => ({ ...member, name: `${each.name}.${member.name}`, whole: each })),
    );
  expect(inputs.length).toBeGreaterThan(80);
  expect(inputs.filter(({ docComment }) => docComment.trim() === "").map(({ name }) => name)).toEqual([]);
  const silent = inputs.filter(
    ({ excerptTokens, docComment, whole }) =>
      /^readonly \w+\?/.test(excerptTokens[0]!.text) && !/default/i.test(docComment + whole.docComment),
  );
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test("every name of the package on a page is described on one", () => {
  const described = new Set(pages.flatMap(({ exports }) => exports.map(({ name }) => name!)));
  const missing = pages.flatMap(({ exports }) => namesOfOthers(exports).filter((name) => !described.has(name)));
  expect([...new Set(missing)].sort()).toEqual(Object.keys(UNDESCRIBED));
});
