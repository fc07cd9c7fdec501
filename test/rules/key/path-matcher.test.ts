import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalUrl } from "../../../worker/rules/key/canonical-url.ts";
import { pathMatcher } from "../../../worker/rules/key/path-matcher.ts";
import { byDepth } from "../../suite/depth.ts";

/** The platform's own answer. */
function byUrlPattern(pattern: string, path: string): Record<string, string> | undefined {
  const groups = new URLPattern({ pathname: pattern }).exec({ pathname: path })?.pathname.groups;
  return groups && Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value ?? ""]));
}

function isPattern(text: string): boolean {
  try {
    return new URLPattern({ pathname: text }) !== null;
  } catch {
    return false;
  }
}

describe("a route's pattern", () => {
  test.each([
    ["/plog/:slug", "/plog/a-page", { slug: "a-page" }],
    ["/plog/:slug", "/plog/a/b", undefined],
    ["/plog/:slug", "/plog/", undefined],
    ["/images/*", "/images/a/b.png", { 0: "a/b.png" }],
    ["/images/*", "/images/", { 0: "" }],
    ["/images/*", "/images", undefined],
    ["/:user/files/*", "/ann/files/x", { user: "ann", 0: "x" }],
    ["/.well-known/*", "/.well-known/a", { 0: "a" }],
    ["/feed.xml", "/feed.xml", {}],
    ["/feed.xml", "/feed-xml", undefined],
    ["/*", "/", { 0: "" }],
    ["/admin{/*}?", "/admin", { 0: "" }],
    ["/admin{/*}?", "/administrator", undefined],
    ["/a/:page?", "/a", { page: "" }],
    ["/a/../b", "/b", {}],
    ["/a/%2e%2e/b", "/b", {}],
    ["/a/\\../b", "/b", {}],
    ["/a/{..}/b", "/b", {}],
    ["/:id(\\d+).html", "/7.html", { id: "7" }],
  ])("%s for %s", (pattern, path, parameters) => {
    expect(pathMatcher(pattern)(path)).toEqual(parameters);
    expect(byUrlPattern(pattern, path)).toEqual(parameters);
  });

  test("matches as the platform's does, whatever is in both", () => {
    const piece = fc.constantFrom(
      ...[
        "/",
        "/",
        "/",
        "a",
        "b",
        "ab",
        ":x",
        ":y",
        "*",
        "{",
        "}",
        "?",
        "+",
        "(a|b)",
        "\\",
        ".",
        "..",
        "-",
        "_",
        "~",
        "%2e",
      ],
      ...["é", "%c3%a9", "%2F", " ", "A"],
    );
    const pattern = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join("")}`);
    const segment = fc.constantFrom(
      "",
      "a",
      "b",
      "ab",
      "A",
      "a.b",
      ".a",
      "a-b",
      "_",
      "~",
      "é",
      "%2e",
      "%2Fa",
      "a b",
      "(a)",
      "a:x",
    );
    const path = fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join("/")}`);
    fc.assert(
      fc.property(pattern.filter(isPattern), fc.array(path, { minLength: 8, maxLength: 8 }), (text, paths) => {
        const match = pathMatcher(text);
        // The pattern's own text makes a path that is likely to match.
        for (const each of [...paths, text.replace(/:\w+|\*/g, "a").replace(/[^\w/.-]/g, "")]) {
          const url = canonicalUrl(`https://example.test${each}`);
          if (url.kind !== "refused") expect([each, match(url.path)]).toEqual([each, byUrlPattern(text, url.path)]);
        }
      }),
      { numRuns: byDepth({ test: 1_000, gate: 1_000, all: 30_000 }) },
    );
  });
});
