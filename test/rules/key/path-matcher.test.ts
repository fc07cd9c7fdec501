import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
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
  afterEach(() => vi.restoreAllMocks());

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
    ["/:year-:month-:slug.html", "/2026-11-a-page.html", { year: "2026", month: "11", slug: "a-page" }],
    ["/:year-:month-:slug.html", "/2026--11-a.html", { year: "2026", month: "-11", slug: "a" }],
    ["/:year-:month-:slug.html", "/2026-11-.html", undefined],
    ["/:year-:month-:slug.html", "/2026-1/1-a.html", undefined],
    ["/:a.:b/*", "/x.y.z/", { a: "x", b: "y.z", 0: "" }],
    ["/caf%C3%A9-:a:b", "/caf%C3%A9-xyz", { a: "x", b: "yz" }],
    ["/.:a", "/x", { a: "x" }],
    ["/files/*/thumb/*.jpg", "/files/a/thumb/b/thumb/c.jpg", { 0: "a/thumb/b", 1: "c" }],
    ["/files/*/thumb/*.jpg", "/files/a/thumb.jpg", undefined],
    ["/files/*/thumb/*.jpg", "/files//thumb/.jpg", { 0: "", 1: "" }],
    ["/a*a", "/a", undefined],
    ["/*aba*a*", "/ababa", { 0: "", 1: "b", 2: "" }],
    ["/*/a/*", "/a/", undefined],
    ["/:user/*-*/edit", "/ann/a-b-c/edit", { user: "ann", 0: "a-b", 1: "c" }],
    ["/:user*", "/ann/x", { user: "ann/x" }],
    ["/a/**", "/a", { 0: "" }],
    ["/*/by/:user", "/a/by/b/by/c", { 0: "a/by/b", user: "c" }],
    ["/.*", "/a", { 0: "a" }],
    ["/*/../b", "/a/b", { 0: "a" }],
  ])("%s for %s", (pattern, path, parameters) => {
    expect(pathMatcher(pattern)(path)).toEqual(parameters);
    expect(byUrlPattern(pattern, path)).toEqual(parameters);
  });

  test("with several wildcards is not left to the platform, which may take seconds for a long path", () => {
    vi.spyOn(URLPattern.prototype, "exec").mockReturnValue(null);
    const match = pathMatcher("/*/shop/*/item/*/reviews");
    const path = `/a${"/shop/item".repeat(1_600)}`;
    expect(match(path)).toBeUndefined();
    expect(match(`${path}//reviews`)?.[2]).toBe("");
  });

  test("with several names in a segment is not left to the platform, which may take hours for a long path", () => {
    vi.spyOn(URLPattern.prototype, "exec").mockReturnValue(null);
    const match = pathMatcher("/:a-:b-:c-:d-:e-:f.html");
    expect(match(`/${"-".repeat(16_000)}`)).toBeUndefined();
    expect(match(`/${"-".repeat(16_000)}.html`)?.f).toBe("-".repeat(15_990));
  });

  test("with names, text and wildcards matches as the platform's does", () => {
    const text = fc.constantFrom("/", "/", "a", "-", ".", "-a", "~", "%2e", "%41", "!", "");
    const name = fc.constantFrom(":v", ":w", ":x", ":y", ":z", "*", "*", "*", "");
    const pattern = fc
      .tuple(
        fc.array(
          fc.tuple(text, name).map(([before, each]) => before + each),
          { maxLength: 5 },
        ),
        text,
      )
      .chain(([pieces, last]) => fc.constantFrom("", "/*").map((end) => `/${pieces.join("")}${last}${end}`));
    const filling = fc.array(fc.constantFrom("a", "-", ".", "-a", "/"), { maxLength: 3 });
    let matches = 0;
    fc.assert(
      fc.property(pattern.filter(isPattern), fc.array(filling, { minLength: 8, maxLength: 8 }), (written, fillings) => {
        const match = pathMatcher(written);
        for (let next of fillings.keys()) {
          const path = written.replace(/:\w+|\*/g, () => fillings[next++ % fillings.length]!.join(""));
          const url = canonicalUrl(`https://example.test${path}`);
          if (url.kind === "refused") continue;
          const expected = byUrlPattern(written, url.path);
          if (expected !== undefined) matches++;
          expect([url.path, match(url.path)]).toEqual([url.path, expected]);
        }
      }),
      { numRuns: byDepth({ test: 300, gate: 300, all: 5_000 }) },
    );
    expect(matches).toBeGreaterThan(300);
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
