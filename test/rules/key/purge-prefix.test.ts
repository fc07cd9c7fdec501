import { describe, expect, test } from "vitest";
import { parsePurgeHost } from "../../../worker/rules/key/purge-host.ts";
import { parsePurgePrefix } from "../../../worker/rules/key/purge-prefix.ts";

const HOSTS = ["www.example.test", "www.example.test:8443", "xn--bcher-kva.example"];
const plain = { kind: "prefix", isWidened: false, hadQuery: false };

describe("a prefix as a purge names it", () => {
  test.each([
    { name: "a path applies to every host", text: "/shop/a", expected: { host: null, prefix: "/shop/a" } },
    { name: "a slash at the end has no effect", text: "/shop/a/", expected: { host: null, prefix: "/shop/a" } },
    { name: "slashes at the end have no effect", text: "/shop//", expected: { host: null, prefix: "/shop" } },
    { name: "two slashes at its beginning are a path", text: "//shop", expected: { host: null, prefix: "//shop" } },
    { name: "a host and a path", text: "www.example.test/a", expected: { host: "www.example.test", prefix: "/a" } },
    { name: "a whole URL", text: "HTTP://WWW.example.test/a", expected: { host: "www.example.test", prefix: "/a" } },
    {
      name: "https, too",
      text: "https://www.example.test:443/a",
      expected: { host: "www.example.test", prefix: "/a" },
    },
    { name: "a port", text: "www.example.test:8443/a", expected: { host: "www.example.test:8443", prefix: "/a" } },
    {
      name: "letters beyond ASCII",
      text: "bücher.example/é",
      expected: { host: "xn--bcher-kva.example", prefix: "/%C3%A9" },
    },
    { name: "escapes and dot segments", text: "/a/../%7eb/%c3%a9", expected: { host: null, prefix: "/~b/%C3%A9" } },
    { name: "an encoded slash stays", text: "/a%2fb", expected: { host: null, prefix: "/a%2Fb" } },
    { name: "an escaped star is a character", text: "/a%2ab/%2A", expected: { host: null, prefix: "/a%2Ab/%2A" } },
    {
      name: "a query has no effect, and is reported",
      text: "/a?b=/c",
      expected: { host: null, prefix: "/a", hadQuery: true },
    },
    {
      name: "an extra segment is left out, and this is reported",
      text: "/1/2/3/4/5/6/7/8/9/10/11/12/13",
      expected: { host: null, prefix: "/1/2/3/4/5/6/7/8/9/10/11/12", isWidened: true },
    },
  ])("$name: $text", ({ text, expected }) => {
    expect(parsePurgePrefix(text, HOSTS)).toEqual({ ...plain, ...expected });
  });

  test.each([
    ["/", /names no path segment/],
    ["//", /names no path segment/],
    ["/a/..", /names no path segment/],
    ["?x", /names no path segment/],
    ["www.example.test", /names no path segment/],
    ["shop", /names no path segment like \/shop/],
    ["https://www.example.test/", /names no path segment/],
    ["/*", /names no path segment/],
    ["/shop/*", /like prefixes: \["\/shop"\]/],
    ["/shop*?x", /a \* is not a wildcard/],
    ["/a*b/c", /a \* is not a wildcard/],
    ["/blog/*/comments", /a \* is not a wildcard; .* like prefixes: \["\/blog"\], or tags, or write %2A /],
    ["/blog/*/", /a \* is not a wildcard/],
    ["/shop/(.*)", /a \* is not a wildcard/],
    ["*.example.test/shop", /a \* in a host is not a wildcard; name each host/],
    ["/a\\b", /backslash/],
    ["/a b", /space/],
    ["/%zz", /without two hexadecimal digits/],
    [`/${"x".repeat(1024)}`, /more than 1024 characters/],
    ["elsewhere.example/a", /elsewhere\.example is not a host of this site/],
    ["user@www.example.test/a", /a host is a name/],
    ["shop/a", /shop is not a host of this site/],
    ["[/a", /not a host name/],
  ])("%s is refused with a reason", (text, because) => {
    expect(parsePurgePrefix(text, HOSTS)).toEqual({ kind: "refused", because: expect.stringMatching(because) });
  });

  test("if the site names no hosts, any is accepted", () => {
    expect(parsePurgePrefix("elsewhere.example/a", null)).toMatchObject({ host: "elsewhere.example" });
  });
});

describe("a host as a purge names it", () => {
  test.each([
    ["WWW.example.test", "www.example.test"],
    ["www.example.test:80", "www.example.test"],
    ["www.example.test:443", "www.example.test"],
    ["www.example.test:8443", "www.example.test:8443"],
    ["bücher.example", "xn--bcher-kva.example"],
  ])("%s", (text, host) => {
    expect(parsePurgeHost(text, HOSTS)).toEqual({ kind: "host", host });
  });

  test.each(["https://www.example.test", "www.example.test/", "a@www.example.test", "www.example.test?", "", "a b"])(
    "%j is refused with a reason",
    (text) => {
      expect(parsePurgeHost(text, HOSTS)).toEqual({ kind: "refused", because: expect.stringMatching(/\w+ \w+/) });
    },
  );

  test.each([
    ["*", HOSTS],
    ["*.example.test", HOSTS],
    ["*.example.test", null],
    ["%2A.example.test", null],
  ])("%s is refused as no wildcard by a site with the hosts %j", (text, hosts) => {
    const because = "a * in a host is not a wildcard; name each host, or a path without host for all";
    expect(parsePurgeHost(text, hosts)).toEqual({ kind: "refused", because });
  });
});
