import { describe, expect, test } from "vitest";
import { dictionaryMatch } from "../../../worker/rules/deltas/dictionary-match.ts";

describe("dictionaryMatch", () => {
  test.each<[string, string, string | null]>([
    ["Vite", "/assets/index-DiwrgTda.js", "/assets/index-*.js"],
    ["Vite, with a hyphen in the hash", "/assets/index-B1-cd_E2.js", "/assets/index-*.js"],
    ["Vite, a chunk with a hyphen", "/assets/vendor-react-BkTf8L2q.css", "/assets/vendor-react-*.css"],
    ["Vite, a hash alone", "/_app/immutable/chunks/BkTf8L2q.js", null],
    ["Astro and SvelteKit", "/_app/immutable/entry/start.DiwrgTda.js", "/_app/immutable/entry/start.*.js"],
    ["esbuild", "/main-KQXZJTWB.js", "/main-*.js"],
    ["webpack", "/static/js/main.4f3a9c1d.js", "/static/js/main.*.js"],
    ["webpack, with an ending before the ending", "/static/js/2.4f3a9c1d.chunk.js", "/static/js/2.*.chunk.js"],
    ["webpack, the whole hash", "/app.8e0d62a10f1c2b3d4e5f.js", "/app.*.js"],
    ["webpack, its runtime", "/runtime~main.8e0d62a10f1c.js", "/runtime~main.*.js"],
    ["Next", "/_next/static/chunks/main-app-8d3c1f2e0a9b7c65.js", "/_next/static/chunks/main-app-*.js"],
    [
      "Next, a numbered chunk",
      "/_next/static/chunks/4bd1b696-8d3c1f2e0a9b7c65.js",
      "/_next/static/chunks/4bd1b696-*.js",
    ],
    ["Next, a route in parentheses", "/_next/app/(shop)/page-8d3c1f2e0a9b7c65.js", "/_next/app/\\(shop\\)/page-*.js"],
    ["Next, a style", "/_next/static/css/ef46db3751d8e999.css", null],
    [
      "Next, the manifest of a build",
      "/_next/static/Xk3jd9aQw2LmPz7Rt5Yb1/_buildManifest.js",
      "/_next/static/*/_buildManifest.js",
    ],
    ["Rails, Propshaft", "/assets/application-4f3a9c1d.css", "/assets/application-*.css"],
    ["Rails, digested by a builder", "/assets/app-0aB3cD4E.digested.js", "/assets/app-*.digested.js"],
    ["Rails, Sprockets", `/assets/application-${"0a".repeat(32)}.js`, "/assets/application-*.js"],
    ["Django", "/static/admin/css/base.27e20196a850.css", "/static/admin/css/base.*.css"],
    ["Django, minified", "/static/jquery.min.2849239b95f5.js", "/static/jquery.min.*.js"],
    ["a folder that is named by a hash", "/static/4f3a9c1d2b3e/js/main.js", "/static/*/js/main.js"],
    ["no hash", "/app.js", "/app.js"],
    ["a number of a version", "/jquery-3.7.1.min.js", "/jquery-3.7.1.min.js"],
    ["a date", "/report-20251125.json", "/report-20251125.json"],
    ["a word of eight letters", "/app-settings.js", "/app-settings.js"],
    ["a word with a capital", "/app-Settings.js", "/app-Settings.js"],
    ["a word with a number", "/app-version2.js", "/app-version2.js"],
    ["a name of two words", "/js/shoppingCart.js", "/js/shoppingCart.js"],
    ["a name of two words and eight letters", "/js/mainPage.js", "/js/mainPage.js"],
    ["a short hash", "/app.4f3a9c.js", "/app.4f3a9c.js"],
    ["the shortest hash", "/app.4f3a9c1.js", "/app.*.js"],
    ["no name", "/4f3a9c1d.js", null],
    ["no ending", "/post/app-4f3a9c1d", "/post/app-4f3a9c1d"],
    ["the root", "/", "/"],
    ["characters that patterns would read", "/a:b/c*d+e{f}.js", "/a{\\:}b/c\\*d\\+e\\{f\\}.js"],
    ["a quote and escapes", "/a%22b/%5Bid%5D.js", "/a%22b/%5Bid%5D.js"],
  ])("%s: %s", (_, path, match) => {
    expect(dictionaryMatch(path, false)).toBe(match);
  });

  test("a page is the dictionary of its own next version, whatever its name", () => {
    expect(dictionaryMatch("/story-4f3a9c1d.html", true)).toBe("/story-4f3a9c1d.html");
  });

  test.each([
    ["/assets/app.4f3a9c1d.js", "/assets/app.91bc04fe.js", true],
    ["/assets/app.4f3a9c1d.js", "/assets/web.91bc04fe.js", false],
    ["/_next/app/(shop)/page-8d3c1f2e0a9b7c65.js", "/_next/app/(shop)/page-0d3c1f2e0a9b7c65.js", true],
    ["/a:b/c*d+e.js", "/a:b/c*d+e.js", true],
    ["/a:b/c*d+e.js", "/ab/cxd+e.js", false],
  ])("by the rules of browsers, the pattern of %s matches %s: %s", (path, next, isMatched) => {
    const pattern = new URLPattern(dictionaryMatch(path, false)!, `https://www.example.com${path}`);
    expect(pattern.hasRegExpGroups).toBe(false);
    expect(pattern.test(`https://www.example.com${next}`)).toBe(isMatched);
    expect(pattern.test(`https://other.example.com${next}`)).toBe(false);
  });
});
