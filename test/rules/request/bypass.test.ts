import { describe, expect, test } from "vitest";
import { isPickedQuery } from "../../../worker/rules/key/query.ts";
import { namesAndPatterns, readPattern } from "../../../worker/rules/key/text-pattern.ts";
import { type BypassRules, bypassReason } from "../../../worker/rules/request/bypass.ts";

const NO_BYPASS: BypassRules = { cookies: null, fields: [], fieldValues: null, query: null, sessions: false };
const RULES: Partial<BypassRules> = { cookies: namesAndPatterns(["sid", "wp_*"]), fields: ["x-preview", "x-debug-*"] };

describe("bypassReason", () => {
  test.each<[string, Record<string, string>, Partial<BypassRules>, "cookie" | "field" | null]>([
    ["nothing named", { cookie: "sid=1", "x-preview": "1" }, {}, null],
    ["a named cookie", { cookie: "a=1; sid=2" }, RULES, "cookie"],
    ["a named cookie without a value", { cookie: "sid" }, RULES, "cookie"],
    ["a named cookie on a second line of the field", { cookie: "a=1,sid=2" }, RULES, "cookie"],
    ["a cookie with a named beginning", { cookie: "wp_x=1" }, RULES, "cookie"],
    ["a cookie in another letter case", { cookie: "SID=1" }, RULES, null],
    ["a name in the value of another cookie", { cookie: "a=sid" }, RULES, null],
    ["a named field", { "x-preview": "" }, RULES, "field"],
    ["a named field in another letter case", { "X-Preview": "1" }, RULES, "field"],
    ["a field with a named beginning", { "x-debug-sql": "1" }, RULES, "field"],
    ["another field", { "x-previews": "1" }, RULES, null],
  ])("%s", (_, fields, rules, expected) => {
    expect(bypassReason(new Headers(fields), { ...NO_BYPASS, ...rules })).toBe(expected);
  });
});

describe("bypassReason by a pattern", () => {
  test.each<[string, string, string, boolean]>([
    ["in a name", "app_Session=1", "/session/i", true],
    ["in a value", "a=session", "/session/i", true],
    ["in another letter case", "Session=1", "/session/", false],
    ["across two cookies", "a=1; b=2", "/1; b/", true],
    ["at the beginning of the field", "sid=1; a=2", "/^sid=/", true],
    ["at the beginning of the field alone", "a=2; sid=1", "/^sid=/", false],
    ["in no cookie", "a=1", "/session/i", false],
  ])("%s: %s, %s", (_, cookie, pattern, isFound) => {
    const rules = { ...NO_BYPASS, cookies: namesAndPatterns(["other", pattern]) };
    expect(bypassReason(new Headers({ cookie }), rules)).toBe(isFound ? "cookie" : null);
    expect(bypassReason(new Headers(), rules)).toBe(null);
  });
});

describe("bypassReason by a field's value", () => {
  const rules = { ...NO_BYPASS, fieldValues: [["user-agent", [/bot/i, /^$/]]] as const };

  test.each<[string, Record<string, string>, boolean]>([
    ["in which a pattern is found", { "user-agent": "A Bot/1.0" }, true],
    ["that is empty", { "user-agent": "" }, true],
    ["that is not sent", {}, true],
    ["in which none is found", { "user-agent": "Mozilla/5.0" }, false],
    ["of another field", { "user-agent": "Mozilla/5.0", referer: "bot" }, false],
  ])("%s", (_, fields, isFound) => {
    expect(bypassReason(new Headers(fields), rules)).toBe(isFound ? "field" : null);
  });
});

test.each(["session", "/a", "//", "/a/g", "/a/y", "/a/ii", "/(/"])("%s is no pattern", (text) => {
  expect(readPattern(text)).toBe(null);
});

describe("isPickedQuery", () => {
  test.each<[string, readonly string[], boolean]>([
    ["", ["a"], false],
    ["?", ["a"], false],
    ["?a", ["a"], true],
    ["?b=1&a=", ["a"], true],
    ["?%61=1", ["a"], true],
    ["?A=1", ["a"], false],
    ["?b=a", ["a"], false],
    ["?abc=1", ["ab*"], true],
    ["?a=1", [], false],
    ["?b=1&A=1", ["/(?:^|&)a=/i"], true],
    ["?ba=1", ["/(?:^|&)a=/i"], false],
    ["?b=%61", ["/=a/"], false],
    ["?", ["/^/"], false],
  ])("%s, one of %j: %s", (search, names, expected) => {
    expect(isPickedQuery(search, search, namesAndPatterns(names))).toBe(expected);
  });

  test("any query is one whose canonical form has parameters", () => {
    expect(isPickedQuery("?a=1", "?a=1", "any")).toBe(true);
    expect(isPickedQuery("?utm_source=1", "", "any")).toBe(false);
    expect(isPickedQuery("", "", "any")).toBe(false);
    expect(isPickedQuery("?a=1", "?a=1", null)).toBe(false);
  });
});
