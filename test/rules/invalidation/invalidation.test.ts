import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cacheGroups, invalidatedGroups } from "../../../worker/rules/invalidation/cache-groups.ts";
import { invalidatedUrls } from "../../../worker/rules/invalidation/invalidated-urls.ts";
import { anyText } from "../fields/any-text.ts";

const URL_ = "https://www.example.test/plog/7?a=b";
const SAFE = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH"];
const UNSAFE = ["POST", "PUT", "PATCH", "DELETE", "PURGE", "MKCOL", "FOO", "get", ""];

describe("invalidatedTargets", () => {
  test.each(SAFE)("%s invalidates nothing (RFC 9110 §9.2.1)", (method) => {
    expect(invalidatedUrls(method, 200, URL_, "/a", "/b", null)).toEqual([]);
  });

  test.each(UNSAFE)("“%s” invalidates its own URL (RFC 9111 §4.4)", (method) => {
    expect(invalidatedUrls(method, 200, URL_, null, null, null)).toEqual([URL_]);
  });

  test.each<[status: number, invalidates: boolean]>([
    [199, false],
    [200, true],
    [201, true],
    [204, true],
    [299, true],
    [300, true],
    [303, true],
    [399, true],
    [400, false],
    [404, false],
    [500, false],
  ])("an answer %i to POST invalidates: %s (RFC 9111 §4.4)", (status, invalidates) => {
    expect(invalidatedUrls("POST", status, URL_, null, null, null)).toEqual(invalidates ? [URL_] : []);
  });

  test.each<{ name: string; location?: string; contentLocation?: string; expect: readonly string[] }>([
    { name: "a path", location: "/plog", expect: ["https://www.example.test/plog"] },
    { name: "a relative path", location: "../new", expect: ["https://www.example.test/new"] },
    { name: "a query", location: "?c=d", expect: ["https://www.example.test/plog/7?c=d"] },
    {
      name: "an absolute URL of the same origin",
      location: "https://www.example.test/a",
      expect: ["https://www.example.test/a"],
    },
    {
      name: "the default port in words",
      location: "https://www.example.test:443/a",
      expect: ["https://www.example.test/a"],
    },
    { name: "the host in capitals", location: "https://WWW.EXAMPLE.TEST/a", expect: ["https://www.example.test/a"] },
    { name: "a fragment is not part of it", location: "/a#b", expect: ["https://www.example.test/a"] },
    { name: "Content-Location", contentLocation: "/c", expect: ["https://www.example.test/c"] },
    {
      name: "both fields",
      location: "/a",
      contentLocation: "/c",
      expect: ["https://www.example.test/a", "https://www.example.test/c"],
    },
    {
      name: "the same URL twice counts once",
      location: "/a",
      contentLocation: "/a#b",
      expect: ["https://www.example.test/a"],
    },
    { name: "its own URL counts once", location: URL_, contentLocation: "", expect: [] },
    { name: "another host", location: "https://example.test/a", expect: [] },
    { name: "another host without a scheme", location: "//evil.test/a", expect: [] },
    { name: "another host with backslashes", location: "\\\\evil.test/a", expect: [] },
    { name: "another scheme", location: "http://www.example.test/a", expect: [] },
    { name: "another port", location: "https://www.example.test:8443/a", expect: [] },
    { name: "user information", location: "https://a:b@www.example.test/a", expect: [] },
    { name: "a user without a password", location: "https://a@www.example.test/a", expect: [] },
    { name: "a password without a user", location: "https://:b@www.example.test/a", expect: [] },
    { name: "an address that is not http or https", location: "mailto:a@b.test", expect: [] },
    {
      name: "a malformed reference",
      location: "https://[broken",
      contentLocation: "/c",
      expect: ["https://www.example.test/c"],
    },
  ])("$name (RFC 9111 §4.4)", (row) => {
    const targets = invalidatedUrls("POST", 201, URL_, row.location ?? null, row.contentLocation ?? null, null);
    expect(targets).toEqual([URL_, ...row.expect]);
  });

  test("an invalid URL invalidates nothing", () => {
    expect(invalidatedUrls("POST", 200, "/plog", "https://www.example.test/a", null, null)).toEqual([]);
  });

  test("an answer can invalidate only its own origin, whatever it names", () => {
    const reference = fc.option(fc.oneof(fc.webUrl(), anyText, fc.string()));
    fc.assert(
      fc.property(reference, reference, (location, contentLocation) => {
        const targets = invalidatedUrls("PUT", 200, URL_, location, contentLocation, null);
        expect(targets[0]).toBe(URL_);
        for (const target of targets) expect(new URL(target).origin).toBe("https://www.example.test");
      }),
    );
  });
});

describe("cacheGroups", () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `group-${index}`);
  const listed = (groups: readonly string[]) => groups.map((group) => `"${group}"`).join(", ");

  test.each<{ name: string; rfc: string; field: string | null; expect: readonly string[] }>([
    { name: "without the field there are none", rfc: "9875 §2", field: null, expect: [] },
    { name: "an empty field has none", rfc: "9651 §4.2", field: "", expect: [] },
    { name: "strings are groups, in order", rfc: "9875 §2", field: '"scripts", "css"', expect: ["scripts", "css"] },
    { name: "groups are case-sensitive", rfc: "9875 §2.1", field: '"A", "a"', expect: ["A", "a"] },
    { name: "a group that is named twice counts once", rfc: "9875 §2.1", field: '"a", "b", "a"', expect: ["a", "b"] },
    { name: "parameters are ignored", rfc: "9875 §2", field: '"a";x=1;y, "b";z="c"', expect: ["a", "b"] },
    {
      name: "spaces, commas and escapes are part of a group",
      rfc: "9651 §3.3.3",
      field: '"a, b", "\\"c\\\\"',
      expect: ["a, b", '"c\\'],
    },
    { name: "the empty string is a group", rfc: "9651 §3.3.3", field: '""', expect: [""] },
    { name: "a token spoils the field", rfc: "9651 §4.2", field: '"a", b', expect: [] },
    { name: "a number spoils the field", rfc: "9651 §4.2", field: '"a", 1', expect: [] },
    { name: "an inner list spoils the field", rfc: "9651 §4.2", field: '"a", ("b")', expect: [] },
    { name: "a display string spoils the field", rfc: "9651 §4.2", field: '"a", %"b"', expect: [] },
    { name: "a comma at the end spoils the field", rfc: "9651 §4.2.1", field: '"a",', expect: [] },
    { name: "an open quote spoils the field", rfc: "9651 §4.2.5", field: '"a", "b', expect: [] },
    { name: "a character outside ASCII spoils the field", rfc: "9651 §4.2.5", field: '"ä"', expect: [] },
    {
      name: "32 groups of 32 characters are kept",
      rfc: "9875 §2",
      field: listed(numbered(32).map((name) => name.padEnd(32, "x"))),
      expect: numbered(32).map((name) => name.padEnd(32, "x")),
    },
    { name: "127 groups are kept", rfc: "9875 §2", field: listed(numbered(127)), expect: numbered(127) },
    { name: "128 groups are kept", rfc: "9875 §2", field: listed(numbered(128)), expect: numbered(128) },
    { name: "the 129th group is left out", rfc: "9875 §2", field: listed(numbered(129)), expect: numbered(128) },
    { name: "255 characters are kept", rfc: "9875 §2", field: `"${"x".repeat(255)}"`, expect: ["x".repeat(255)] },
    { name: "256 characters are kept", rfc: "9875 §2", field: `"${"x".repeat(256)}"`, expect: ["x".repeat(256)] },
    {
      name: "a group of 257 characters is left out",
      rfc: "9875 §2",
      field: `"${"x".repeat(257)}", "b"`,
      expect: ["b"],
    },
  ])("$name (RFC $rfc)", (row) => {
    expect(cacheGroups(row.field)).toEqual(row.expect);
  });

  test("groups survive printing and parsing", () => {
    const groups = fc.uniqueArray(fc.string({ unit: "grapheme-ascii" }), { maxLength: 10 });
    fc.assert(
      fc.property(groups, (names) => {
        const field = names.map((name) => `"${name.replace(/["\\]/g, "\\$&")}"`).join(", ");
        expect(cacheGroups(field)).toEqual(names);
      }),
    );
  });

  test("no text makes it throw", () => {
    fc.assert(
      fc.property(anyText, (field) => {
        expect(Array.isArray(cacheGroups(field))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("invalidatedGroups", () => {
  test.each(SAFE)("%s invalidates no group (RFC 9875 §3)", (method) => {
    expect(invalidatedGroups(method, '"a"')).toEqual([]);
  });

  test.each(UNSAFE)("“%s” invalidates the groups that its answer names (RFC 9875 §3)", (method) => {
    expect(invalidatedGroups(method, '"a", "b";x')).toEqual(["a", "b"]);
  });

  test("without the field no group is invalidated (RFC 9875 §3)", () => {
    expect(invalidatedGroups("POST", null)).toEqual([]);
  });
});
