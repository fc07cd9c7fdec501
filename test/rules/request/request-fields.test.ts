import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { hopByHopFields } from "../../../worker/rules/forwarding/hop-by-hop.ts";
import { originRequestFields } from "../../../worker/rules/forwarding/origin-request-fields.ts";
import {
  isOpenToOwners,
  mayBeKeyed,
  meaningInVary,
  nameAtGateways,
  REQUEST_FIELDS,
  reachesOriginAsSent,
} from "../../../worker/rules/request/request-fields.ts";
import { selectingFields } from "../../../worker/rules/variants/vary.ts";

const AS_LISTED = { keyFields: [], droppedFields: [], trustedFields: [] };

describe("reachesOriginAsSent", () => {
  test.each([
    "X-Forwarded-Host",
    "x_forwarded_for",
    "X.Real.IP",
    "getContentFeatures.dlna.org",
    "forwarded",
    "X-Host",
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-HTTP-Method-Override",
    "X-Real-IP",
    "True-Client-IP",
    "CF-Connecting-IP",
    "Fastly-Client-IP",
    "X-Envoy-Original-Path",
    "X-Middleware-Subrequest",
    "Proxy",
    "Referer",
    "Range",
    "Cookie",
    "Host",
    "Tidemark-Refresh",
    "Alt-Used",
    "RTT",
    "Tracestate",
    "X-Request-Id",
    "X-Turbo-Request-Id",
    "X-B3-TraceId",
    "Docker-Distribution-Api-Version",
    "Icy-MetaData",
    "X-Datadog-Trace-Id",
    "MF-Original-Hostname",
  ])("%s does not reach the origin as it was sent where the answer may be stored", (name) => {
    expect(reachesOriginAsSent(name.toLowerCase(), "odd", AS_LISTED)).toBe(false);
  });

  test.each([
    "user-agent",
    "accept",
    "accept-language",
    "dpr",
    "origin",
    "x-requested-with",
    "x-forwarder",
    "referer-policy",
  ])("control: %s does", (name) => {
    expect(reachesOriginAsSent(name, "odd", AS_LISTED)).toBe(true);
  });

  test.each([
    ["com.example.app", false],
    ["org.mozilla.firefox_beta", false],
    [`com.${"x".repeat(251)}`, false],
    [`com.${"x".repeat(252)}`, true],
    ["XMLHttpRequest", true],
    ["com.example.", true],
    ["com.1app", true],
    ["com.example.app evil", true],
    ["", true],
  ])("X-Requested-With: %s reaches the origin: %s", (value, reaches) => {
    expect(reachesOriginAsSent("x-requested-with", value, AS_LISTED)).toBe(reaches);
  });

  test("what the owner drops does not, unless the answer is not stored or the route keys by it", () => {
    const rules = { ...AS_LISTED, droppedFields: ["x-app-*", "x-tenant"] };
    for (const name of ["x-app-version", "x-tenant"]) {
      expect(reachesOriginAsSent(name, "1", rules)).toBe(false);
      expect(reachesOriginAsSent(name, "1", rules, false)).toBe(true);
      expect(reachesOriginAsSent(name, "1", { ...rules, keyFields: [name] })).toBe(true);
      expect(meaningInVary(name, rules)).toBe("nothing");
    }
    expect(reachesOriginAsSent("x-tenants", "1", rules)).toBe(true);
  });

  test("what the owner trusts does, though it is the client's software's, and selects if Vary names it", () => {
    const rules = { ...AS_LISTED, trustedFields: ["x-request-id", "x-fo*"] };
    expect(reachesOriginAsSent("x-request-id", "1", rules)).toBe(true);
    expect(meaningInVary("x-request-id", rules)).toBe("selects");
    expect(reachesOriginAsSent("x-forwarded-host", "1", rules)).toBe(false);
    expect(reachesOriginAsSent("x-request-id", "1", { ...rules, droppedFields: ["x-request-id"] })).toBe(false);
  });

  test.each([
    ...[
      "x-app-version",
      "x-app-*",
      "x-request-id",
      "user-agent",
      "accept-language",
      "x-datadog-*",
      "origin",
      "referer",
    ],
  ])("an owner may drop or trust %s", (name) => {
    expect(isOpenToOwners(name)).toBe(true);
  });

  test.each([
    ...["*", "x-*", "x-forwarded-*", "x_forwarded*", "cookie", "c*", "authorization", "host", "via", "te", "if-none-*"],
    ...["range", "accept-encoding", "x.original-url", "tidemark-after", "x-http-method-override"],
  ])("no owner may drop or trust %s", (name) => {
    expect(isOpenToOwners(name)).toBe(false);
  });

  test("where the answer is not stored, what the client's software sends goes through", () => {
    expect(reachesOriginAsSent("x-request-id", "1", AS_LISTED, false)).toBe(true);
    expect(reachesOriginAsSent("x-requested-with", "com.example.app", AS_LISTED, false)).toBe(true);
  });

  test("an expectation is met by the edge, also where the answer is not stored (RFC 9110 §10.1.1)", () => {
    expect(reachesOriginAsSent("expect", "100-continue", AS_LISTED, false)).toBe(false);
    expect(mayBeKeyed("expect")).toBe(false);
  });

  test("a field that the route keys by goes through, and its other spelling does not", () => {
    expect(reachesOriginAsSent("x-original-host", "odd", { ...AS_LISTED, keyFields: ["x-original-host"] })).toBe(true);
    expect(reachesOriginAsSent("x_original_host", "odd", { ...AS_LISTED, keyFields: ["x-original-host"] })).toBe(false);
  });

  test.each(["cookie", "authorization", "host", "x-forwarded-host", "if-none-match", "tidemark-after", "te", "range"])(
    "no route may key by %s",
    (name) => {
      expect(mayBeKeyed(name)).toBe(false);
    },
  );

  test.each(["x-tenant", "referer", "x-original-host", "user-agent", "origin"])("a route may key by %s", (name) => {
    expect(mayBeKeyed(name)).toBe(true);
  });
});

const CLAIMS = [
  ...REQUEST_FIELDS.claim,
  ...REQUEST_FIELDS["host-claim"],
  ...REQUEST_FIELDS.address,
  ...REQUEST_FIELDS.written,
  ...hopByHopFields(null),
  "x-forwarded-prefix",
  "x-original-host",
  "x-rewrite-url",
  "x-envoy-original-path",
  "x-middleware-subrequest",
  "fastly-client-ip",
  "cf-connecting-ip",
  "tidemark-after",
];

/** Both spellings that gateways of origins take for one. */
const SPELLINGS = [...new Set(CLAIMS.flatMap((name) => [name, name.replaceAll("-", "_")]))];

const FORWARDED = {
  scheme: "https",
  host: "www.example.test",
  clientAddress: null,
  acceptedCodings: "identity",
  cookie: null,
  maxForwards: null,
  fieldRules: AS_LISTED,
  chosenFields: new Map(),
  conditions: [],
  extra: [],
  forward: { realIp: false, forwarded: false },
  isReflected: false,
} as const;

function selectedBy(vary: string): readonly string[] | "*" {
  return selectingFields({
    field: (name) => (name === "vary" ? vary : null),
    askedAcross: false,
    keyFields: [],
    parts: [],
  });
}

describe("the table of request fields", () => {
  test("has each field once, in lower case, and none that is of one hop", () => {
    const names = Object.values(REQUEST_FIELDS).flat();
    expect(names).toEqual([...new Set(names.map((name) => name.toLowerCase()))]);
    expect(names.filter((name) => hopByHopFields(null).has(name))).toEqual([]);
  });

  test.each(SPELLINGS)("a client's claim of %s never reaches the origin as it was sent", (name) => {
    for (const storing of [true, false]) {
      const sent = originRequestFields(new Fields([[name, "claimed"]]), { ...FORWARDED, storing });
      expect(sent).toEqual(originRequestFields(new Fields(), { ...FORWARDED, storing }));
    }
  });

  test.each(SPELLINGS)("a response that varies by %s is not selected by what a client claims", (name) => {
    expect(["nothing", "unknowable"]).toContain(meaningInVary(name));
    expect([[], "*"]).toContainEqual(selectedBy(name.toUpperCase()));
  });

  test.each(SPELLINGS.filter((name) => !isTold(nameAtGateways(name))))(
    "nobody knows from a request what the origin sees in %s, so what varies by it is not stored",
    (name) => {
      expect(selectedBy(name)).toBe("*");
    },
  );

  test.each(Object.values(REQUEST_FIELDS).flat())("%s selects only if the origin sees something of it", (name) => {
    const sees = (value: string) => originRequestFields(new Fields([[name, value]]), { ...FORWARDED, storing: true });
    const isMadeOfIt = isIn("codings", name) || isIn("cookies", name); // handed in by the caller
    if (meaningInVary(name) === "selects" && !isMadeOfIt) expect(sees("odd")).not.toEqual(sees("other"));
    if (meaningInVary(name) !== "selects") expect(sees("odd")).toEqual(sees("other"));
  });

  test("control: a field that is in no list reaches the origin and selects", () => {
    expect(reachesOriginAsSent("x-any", "odd", AS_LISTED)).toBe(true);
    expect(meaningInVary("x-any")).toBe("selects");
  });
});

/** Whether the edge or a connection tells the origin this, so that it is the same for all requests of one key. */
function isTold(name: string): boolean {
  return ["written", "host-claim"].some((of) => isIn(of, name)) || hopByHopFields(null).has(name);
}

function isIn(treatment: string, name: string): boolean {
  return Object.entries(REQUEST_FIELDS).some(([key, names]) => key === treatment && names.includes(name));
}
