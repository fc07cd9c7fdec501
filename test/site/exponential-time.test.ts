import { createContext, runInContext } from "node:vm";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayTakeExponentialTime } from "../../worker/site/exponential-time.ts";
import { slowExpressions } from "../../worker/site/slow-expressions.ts";
import { byDepth } from "../suite/depth.ts";
import { seed } from "../suite/seed.ts";

describe("an expression may take exponential time if a loop of it can read a text in two ways", () => {
  test.each([
    "^/([\\w-]+/?)+$",
    "^/(?:[a-z0-9]+-?)+\\.html$",
    "((a+)+)+",
    "(a*)*",
    "(a|a)*",
    "(?:aa|a)+b",
    "(\\w|\\d)*$",
    "(a?b?)*",
    "(?:(a?)+,)*",
    "(.*/)*$",
    "(\\s*\\w+\\s*)+;",
    "(a{2,})+",
    "(?:a{30}|a)+",
    "(?=(a+)+b)",
    "(?:x(?<!(a*)*b))",
    "(['\"])(?:\\1x)*",
    "(?:(?:\\u0061|a)b)+",
    "(?:\\p{L}|é)+",
    "([^\\]]+[x\\]]?)+",
  ])("%s", (source) => expect(mayTakeExponentialTime(source)).toBe(true));

  test("or a repetition that is limited, but large", () => {
    expect(
      ["(a+){4}", "(a|a){20}", "(?:(?:a*){2}){3}", "(?:[a-z]{1,20}-?){1,20}"].map((each) =>
        mayTakeExponentialTime(each),
      ),
    ).toEqual([true, true, true, true]);
    expect(
      ["(a+){3}", "(?:\\w{2}){30}", "(\\d{1,3}\\.){3}\\d{1,3}", "(?:[a-z]{1,2}-?){2}"].map((each) =>
        mayTakeExponentialTime(each),
      ),
    ).toEqual([false, false, false, false]);
  });

  test("in the letter case that its flags leave open", () => {
    expect([mayTakeExponentialTime("(?:a|A)*b", ""), mayTakeExponentialTime("(?:a|A)*b", "i")]).toEqual([false, true]);
  });
});

describe("others are left alone", () => {
  test.each([
    ".*a.*b",
    "^/.*/.*/.*",
    "\\.(jpg|png)$",
    "^/(?:[a-z0-9-]+/)+$",
    "(?:/\\w+)*/?$",
    "^/blog/\\d{4}/\\d{2}/[^/]+/?$",
    "([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})",
    "(%[0-9a-f]{2}|[^%])+",
    "(?:ab|cd|ef)*",
    "(?:foo|bar)(?:,(?:foo|bar))*",
    "(['\"])(?:(?!\\1).)*\\1",
    "(?:a{30})+",
    "[a-z]{1,500}",
    "",
    "a{,2}",
    "x{y}[{}]+",
  ])("%s", (source) => expect(mayTakeExponentialTime(source)).toBe(false));

  test("and all that WordPress sites skip", () => {
    const skipped =
      "/wp-admin/|/xmlrpc.php|wp-.*.php|^/feed/*|/tag/.*/feed/*|index.php|/.*sitemap.*\\.(xml|xsl)|comment_author|wordpress_[a-f0-9]+|wp-postpass";
    expect(mayTakeExponentialTime(skipped, "i")).toBe(false);
  });
});

describe("random expressions, against the time that they take", () => {
  const WORDS = wordsUpTo(4);
  const textsOf = (length: number) =>
    WORDS.filter((each) => each.length <= 2).flatMap((start) =>
      WORDS.filter((each) => each !== "").map((again) => `${start}${again.repeat(Math.ceil(length / again.length))}!`),
    );
  const context = createContext({});

  /** Whether all texts of a length together take the expression longer. */
  function takesLonger(source: string, length: number, timeout: number): boolean {
    context.texts = textsOf(length);
    try {
      runInContext(`for (const text of texts) /^(?:${source})$/.test(text)`, context, { timeout });
      return false;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return true;
      throw error;
    }
  }

  const { source: expressions } = fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("a", "b", "[ab]", "[^a!]", "[a-c]"),
      fc.tuple(tie("source"), tie("source")).map((pair) => pair.join("")),
      fc.tuple(tie("source"), fc.oneof(tie("source"), fc.constant(""))).map((pair) => `(?:${pair.join("|")})`),
      fc
        .tuple(tie("source"), fc.constantFrom("*", "+", "?", "+?", "{2}", "{2,}"))
        .map(([one, times]) => `(?:${one})${times}`),
    ),
  }));
  const sampled = fc.sample(expressions, {
    seed,
    numRuns: byDepth({ test: 300, gate: 300, all: 3_000, explore: 30_000 }),
  });
  const found = sampled.filter((each) => mayTakeExponentialTime(each));

  test("none of those that are left alone takes long", () => {
    const others = sampled.filter((each) => !found.includes(each));
    expect(others.length).toBeGreaterThan(100);
    // Time that grows with the fourth power of the length is no exponential time, and would be long for longer texts.
    expect(others.filter((each) => takesLonger(each, 40, 10_000))).toEqual([]);
  });

  test("most that are found take long", () => {
    const some = found.slice(0, 60);
    expect(some.length).toBeGreaterThan(10);
    expect(some.filter((each) => takesLonger(each, 100, 50)).length).toBeGreaterThan(0.8 * some.length);
  });
});

describe("a site's expressions", () => {
  test("are found in routes and in what bypasses the cache", () => {
    const site = {
      origin: "http://origin.example.com",
      bypass: { cookies: ["sid", "/session/i", "/(a+)+$/i"], fields: { "user-agent": [/bot/, /(?:\w+ ?)*bot/] } },
      routes: [
        { match: "/fine/:slug/*", bypass: { query: true } },
        { match: "/:path((?:[\\w\\-]+/?)+)", bypass: { query: [/^(a|a)*$/], fields: ["x-app"] } },
        { match: "/{(a|b)+}*/x" },
        { match: "/:each([\\w\\-]+\\/?)+" }, // a slash comes before each
        { match: "/:a/:b(\\d+)?/{c}*.*" },
      ],
    };
    expect(slowExpressions(site)).toEqual([
      { place: "bypass.cookies", expression: "/(a+)+$/i" },
      { place: "bypass.fields.user-agent", expression: "/(?:\\w+ ?)*bot/" },
      { place: "routes[1].match", expression: "/:path((?:[\\w\\-]+/?)+)" },
      { place: "routes[1].bypass.query", expression: "/^(a|a)*$/" },
      { place: "routes[2].match", expression: "/{(a|b)+}*/x" },
    ]);
  });
});

function wordsUpTo(length: number): readonly string[] {
  const words = [""];
  for (const word of words) if (word.length < length) words.push(...["a", "b", "c"].map((each) => word + each));
  return words;
}
