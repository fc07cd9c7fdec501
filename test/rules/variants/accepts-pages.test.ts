import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { acceptsPages } from "../../../worker/rules/variants/accepts-pages.ts";
import { anyText } from "../fields/any-text.ts";

describe("acceptsPages", () => {
  test.each<[accept: string | null, accepts: boolean]>([
    [null, true],
    ["*/*", true],
    ["text/html", true],
    ["Text/HTML ; q=0.5", true],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true],
    ["application/json, text/plain, */*", true],
    ["image/avif,image/webp,*/*;q=0.001", true],
    ["*/*;q=1.000", true],
    ["application/json", false],
    ["text/evil", false],
    ["text/*", false],
    ["text/html;level=1", false],
    ["*/*;q=0", false],
    ["*/*;q=0.000", false],
    ["text/html;q=2", false],
    ["text/htmlx", false],
    ["", false],
  ])("%s: %s", (accept, accepts) => {
    expect(acceptsPages(accept)).toBe(accepts);
  });

  test("any text is read", () => {
    fc.assert(fc.property(anyText, (text) => typeof acceptsPages(text) === "boolean"));
  });
});
