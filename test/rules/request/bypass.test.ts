import { describe, expect, test } from "vitest";
import { hasParameter } from "../../../worker/rules/key/query.ts";
import { type BypassRules, bypassReason, NO_BYPASS } from "../../../worker/rules/request/bypass.ts";

const RULES: Partial<BypassRules> = { cookies: ["sid", "wp_*"], fields: ["x-preview", "x-debug-*"] };

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

describe("hasParameter", () => {
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
  ])("%s, one of %j: %s", (search, names, expected) => {
    expect(hasParameter(search, names)).toBe(expected);
  });
});
