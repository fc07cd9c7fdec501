import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { publicLocation, toClientFields } from "../../../worker/rules/forwarding/client-response-fields.ts";
import { originRequestFields } from "../../../worker/rules/forwarding/origin-request-fields.ts";
import { cookieValue, readCookies } from "../../../worker/rules/identity/cookies.ts";
import { readReceiptToken, writeReceiptToken } from "../../../worker/rules/request/receipt-token.ts";
import { collectTags } from "../../../worker/rules/storing/tags.ts";

const address = {
  originUrl: "http://origin.internal:8080",
  publicUrl: "https://www.example.test",
  requestedUrl: "https://www.example.test/old",
};

describe("publicLocation", () => {
  test.each([
    ["http://origin.internal:8080/new?x=1#y", "https://www.example.test/new?x=1#y"],
    ["https://origin.internal:8080/new", "https://www.example.test/new"],
    ["//origin.internal:8080/new", "https://www.example.test/new"],
    // The two bytes of one character in UTF-8, each of which arrives as a character.
    [
      "http://origin.internal:8080/caf\u00c3\u00a9?q=\u00c3\u00a9",
      "https://www.example.test/caf\u00c3\u00a9?q=\u00c3\u00a9",
    ],
    [" //origin.internal:8080/caf\u00c3\u00a9", "https://www.example.test/caf\u00c3\u00a9"],
    ["http://user@origin.internal:8080?x", "https://www.example.test?x"],
    ["http:/new", "https://www.example.test/new"],
    ["/new", "/new"],
    ["new?x=http://origin.internal:8080/", "new?x=http://origin.internal:8080/"],
    ["https://elsewhere.test/a", "https://elsewhere.test/a"],
    ["http://origin.internal/default-port", "https://www.example.test/default-port"],
    ["http://origin.internal:9999/other", "http://origin.internal:9999/other"],
    ["mailto:a@b.test", "mailto:a@b.test"],
    ["http://[broken", "http://[broken"],
  ])("%s", (location, expected) => {
    expect(publicLocation(location, address)).toBe(expected);
  });

  test.each([
    ["https://origin.internal:8080/old?x=1", "https://www.example.test/old?x=1"],
    ["https://origin.internal:8080/new", "http://www.example.test/new"],
    ["http://origin.internal:8080/old?x=1", "http://www.example.test/old?x=1"],
  ])("%s for http://www.example.test/old?x=1", (location, expected) => {
    const publicUrl = "http://www.example.test";
    expect(publicLocation(location, { ...address, publicUrl, requestedUrl: `${publicUrl}/old?x=1` })).toBe(expected);
  });
});

const NOON = Date.UTC(2026, 0, 1, 12);

describe("toClientFields", () => {
  test("a missing Date becomes the time of arrival, and an existing one stays (RFC 9110 §6.6.1)", () => {
    const dated = (sent: Fields) => toClientFields(sent, address, [], NOON).get("date");
    expect(dated(new Fields())).toBe("Thu, 01 Jan 2026 12:00:00 GMT");
    expect(dated(new Fields([["date", "yesterday"]]))).toBe("yesterday");
  });

  test.each([
    ["0; url=http://origin.internal:8080/new?x=1", "0; url=https://www.example.test/new?x=1"],
    ["0;URL = 'https://origin.internal:8080/new'", "0;URL = 'https://www.example.test/new'"],
    ['1.5, "//origin.internal:8080/"', '1.5, "https://www.example.test/"'],
    ["http://origin.internal:8080/new", "https://www.example.test/new"],
    ["0; url=/login?to=http://origin.internal:8080/", "0; url=/login?to=http://origin.internal:8080/"],
    ["0; url=https://elsewhere.test/a", "0; url=https://elsewhere.test/a"],
    ["30", "30"],
    ["0; url=", "0; url="],
  ])("Refresh: %s does not name the hidden origin", (refresh, expected) => {
    expect(toClientFields(new Fields([["refresh", refresh]]), address, [], NOON).get("refresh")).toBe(expected);
  });

  test("Set-Cookie lines stay separate, and the origin's own Via stays", () => {
    const sent = new Fields([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["via", "1.1 inner"],
    ]);
    const fields = toClientFields(sent, address, [], NOON);
    expect(fields.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(fields.get("via")).toBe("1.1 inner");
  });
});

describe("originRequestFields", () => {
  const forwarded = {
    scheme: "https",
    host: "www.example.test",
    clientAddress: null,
    storing: true,
    acceptedCodings: "identity",
    cookie: null,
    maxForwards: null,
    fieldRules: { keyFields: [], droppedFields: [], trustedFields: [] },
    chosenFields: new Map(),
    conditions: [],
    extra: [],
    forward: { realIp: false, forwarded: false },
    isReflected: false,
  } as const;

  test("a client's Via and CDN-Loop are continued", () => {
    const fields = Object.fromEntries(
      originRequestFields(
        new Fields([
          ["Via", "1.0 old"],
          ["CDN-Loop", "other"],
        ]),
        forwarded,
      ),
    );
    expect(fields).toMatchObject({
      via: "1.0 old, 1.1 tidemark",
      "cdn-loop": 'other, tidemark; host="www.example.test"',
    });
  });

  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["2001:db8::7", '"[2001:db8::7]"'],
    [null, "unknown"],
  ])("Forwarded names %s as %s (RFC 7239 §6)", (clientAddress, node) => {
    const told = { ...forwarded, clientAddress, forward: { realIp: true, forwarded: true } };
    const fields = Object.fromEntries(originRequestFields(new Fields([]), told));
    expect(fields.forwarded).toBe(`for=${node};host="www.example.test";proto=https`);
    expect(fields["x-real-ip"] ?? null).toBe(clientAddress);
  });

  test("without a known client address, none is sent", () => {
    const fields = originRequestFields(new Fields([["X-Forwarded-For", "6.6.6.6"]]), forwarded);
    expect(Object.fromEntries(fields)).not.toHaveProperty("x-forwarded-for");
  });
});

describe("cookies", () => {
  test.each([
    [null, { identifying: false, forwarded: null }],
    ["_ga=1; _gid=2", { identifying: false, forwarded: null }],
    ["_ga=1; session=2;", { identifying: true, forwarded: "session=2" }],
    ["ours=1", { identifying: false, forwarded: null }],
    ["=odd", { identifying: true, forwarded: "=odd" }],
    ["_ga=1, session=2", { identifying: true, forwarded: "_ga=1, session=2" }],
    ["_ga=1, _gid=2, ;ours=1,", { identifying: false, forwarded: null }],
    ["session=2,3", { identifying: true, forwarded: "session=2,3" }],
  ])("%j", (field, expected) => {
    expect(readCookies(field, ["_ga", "_gi*"], ["ours"])).toEqual(expected);
  });

  test("a value is found among others", () => {
    expect(cookieValue("a=1; bb=2=3", "bb")).toBe("2=3");
    expect(cookieValue("a=1", "b")).toBeNull();
    expect(cookieValue("a=1, b=2", "b")).toBe("2");
  });
});

describe("tags", () => {
  test.each([
    [["route"], ["a,b", "b c"], { kind: "tags", tags: ["route", "a", "b", "c"] }],
    [[], [" , "], { kind: "tags", tags: [] }],
    [[], ["a b c d e"], { kind: "refused", because: "too-many-tags" }],
    [[], ["ü"], { kind: "refused", because: "tag-invalid" }],
    [[""], [], { kind: "refused", because: "tag-invalid" }],
    [[], ["x".repeat(257)], { kind: "refused", because: "tag-invalid" }],
  ])("%j with %j", (routeTags, texts, expected) => {
    expect(collectTags(routeTags, texts, 4, [])).toEqual(expected);
  });
});

describe("receipt tokens", () => {
  test("what is written can be read", () => {
    expect(readReceiptToken(writeReceiptToken({ logId: "a-1", seq: 7 }))).toEqual({ logId: "a-1", seq: 7 });
  });

  test.each([null, "", "x", "x.0", "x.-1", "x.1e9", ".1", "a b.1", "x.1.2"])("%j is not a token", (text) => {
    expect(readReceiptToken(text)).toBeNull();
  });
});
