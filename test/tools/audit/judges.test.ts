import { describe, expect, test } from "vitest";
import { busterVerdict } from "../../../tools/audit/from-store.ts";
import { judgePath } from "../../../tools/audit/judge-path.ts";
import { mendShared, mendStored, mendUnkeyed } from "../../../tools/audit/mending.ts";
import { provenanceOf } from "../../../tools/audit/provenance.ts";
import { findingsIn, type Judges, type RecordedCase, recordOf } from "./recorded.ts";
import { recordedCases } from "./recorded-cases.ts";

const judges: Judges = { judgePath, busterVerdict, provenanceOf };

describe("the judges of an audit, on recorded answers", () => {
  test.each(recordedCases)("$name", (each) => {
    expect(findingsIn(judges, each)).toEqual(each.finds.map((wanted) => expect.stringMatching(wanted)));
  });
});

describe("where an answer comes from", () => {
  test.each([
    [{ "x-cache": "HIT" }, "hit"],
    [{ "x-cache": "MISS" }, "miss"],
    [{ "x-cache": "EXPIRED" }, "expired"],
    [{ "x-cache": "MISS, HIT" }, "hit"],
    [{ "x-cache": "Miss from cloudfront" }, "miss"],
    [{ "x-cache": "TCP_REFRESH_HIT from a1-2 (AkamaiGHost)" }, "hit"],
    [{ "cf-cache-status": "DYNAMIC" }, "miss"],
    [{ "cf-cache-status": "REVALIDATED" }, "hit"],
    [{ "cache-status": "tidemark; hit; ttl=30" }, "hit"],
    [{ "cache-status": "tidemark; fwd=uri-miss; stored" }, "miss"],
    [{ "cache-status": "origin; hit, cdn; fwd=miss" }, "hit"],
    [{ "cache-status": "tidemark; fwd=stale; fwd-status=200" }, "expired"],
    [{ "x-varnish": "32770 3" }, "hit"],
    [{ "x-varnish": "32770" }, "miss"],
    [{ "x-cache-hits": "0, 3" }, "hit"],
    [{ "server-timing": "cdn-cache; desc=HIT, edge; dur=1" }, "hit"],
    [{ age: "120" }, "hit"],
    [{ age: "1" }, "unknown"],
    [{ "x-cache": "MISS", age: "120" }, "hit"],
    [{ "x-anything": "white chit" }, "unknown"],
    [{}, "unknown"],
  ] as const)("%o: %s", (fields, wanted) => {
    expect(provenanceOf(Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, [text]])))).toBe(wanted);
  });

  test("the owner's own field marks hits as the owner says", () => {
    const own = [{ name: "x-served-by-us", text: "store" }];
    expect(provenanceOf({ "x-served-by-us": ["Store 7"] }, own)).toBe("hit");
    expect(provenanceOf({ "x-served-by-us": ["origin"] }, own)).toBe("miss");
  });
});

describe("whether the buster is in the key", () => {
  const hit = { "x-cache": "HIT" };
  const verdict = (each: Partial<RecordedCase>) =>
    busterVerdict(recordOf({ name: "", finds: [], ...each }, provenanceOf));

  test("a first answer from the cache shows that it is not", () => {
    expect(verdict({ fresh: { s: () => ({ fields: hit }) } })).toBe("dropped");
    expect(verdict({ fresh: { s: () => ({ fields: { "x-cache": "EXPIRED" } }) } })).toBe("dropped");
  });

  test("so does a first answer with Age, if another to the same visitor has none", () => {
    const aged = { fields: { age: "0" } };
    expect(verdict({ fresh: { s: (rendering) => (rendering === 0 ? {} : aged) } })).toBe("dropped");
    expect(verdict({ fresh: { s: () => aged } })).toBe("nothing-stored");
  });

  test.each([{}, { onCopies: { age: "0" } }])("a hit, and a miss with another value, show that it is: %o", (each) => {
    const shared = [
      ["s", null],
      ["s", 0],
    ] as const;
    expect(verdict({ shared, ...each })).toBe("own-entry");
  });

  test("without a hit, nothing is known", () => {
    expect(verdict({ shared: [["s", null]] })).toBe("nothing-stored");
    expect(
      verdict({
        shared: [
          ["s", null],
          ["s", 0],
        ],
        onCopies: {},
      }),
    ).toBe("nothing-stored");
  });
});

describe("the settings of nginx that would fix it", () => {
  test("name cookies by variables, which hold letters, digits and underscores alone", () => {
    expect(mendShared("nginx", "/", ["sid", "user_id"])[1]).toBe(
      "nginx: proxy_cache_bypass $cookie_sid $cookie_user_id; proxy_no_cache $cookie_sid $cookie_user_id;",
    );
    expect(mendUnkeyed("nginx", "/", { kind: "cookie", name: "lang", value: "de" })[1]).toBe(
      "nginx: add $cookie_lang to proxy_cache_key",
    );
    expect(mendUnkeyed("nginx", "/", { kind: "field", name: "x-shop", value: "b" })[1]).toBe(
      'nginx: add $http_x_shop to proxy_cache_key, or proxy_set_header x-shop "";',
    );
  });

  test("find all other names by a map", () => {
    expect(mendShared("nginx", "/", ["sid", "laravel-session", "a.b"])[1]).toBe(
      'nginx: map $http_cookie $personal { default ""; "~(^|; *)(sid|laravel-session|a\\.b)=" 1; } in the http block; ' +
        "proxy_cache_bypass $personal; proxy_no_cache $personal;",
    );
    expect(mendUnkeyed("nginx", "/", { kind: "cookie", name: "user-currency", value: "EUR" })[1]).toBe(
      'nginx: map $http_cookie $key_user_currency { default ""; "~(?:^|; *)user-currency=([^;]*)" $1; } in the http ' +
        "block; add $key_user_currency to proxy_cache_key",
    );
    expect(mendUnkeyed("nginx", "/", { kind: "parameter", name: "filter[a]", value: "1" })[1]).toBe(
      'nginx: map $args $key_filter_a_ { default ""; "~(?:^|&)filter\\[a\\]=([^&]*)" $1; } in the http block; ' +
        "add $key_filter_a_ to proxy_cache_key",
    );
  });

  test("are patterns in Varnish, in which a dot is no more than a dot", () => {
    expect(mendShared("varnish", "/", ["a.b"])[1]).toBe(
      'vcl_recv: if (req.http.Cookie ~ "(^|; *)(a\\.b)=") { return (pass); }',
    );
  });
});

describe("what would fix a page that Tidemark stores", () => {
  test("names the fields that overrule Cache-Control, which visitors do not get", () => {
    for (const because of ["private", "no-store", "authorization"] as const) {
      expect(mendStored("tidemark", because)[0]).toBe(
        "if the origin's Surrogate-Control or the site's targetedField allows this, accept it; otherwise please report " +
          "it, with the output of tidemark explain",
      );
    }
  });

  test("is a report where nothing could overrule the answer", () => {
    for (const because of ["set-cookie", "vary: cookie"] as const) {
      expect(mendStored("tidemark", because)[0]).toBe(
        "this should not happen: please report it, with the output of tidemark explain",
      );
    }
  });
});
