import { expect, test } from "vitest";
import { redirectTarget } from "../../../worker/rules/forwarding/client-response-fields.ts";

const URL_ASKED = "https://www.example.test/a/b?x=1";

test.each<[status: number, location: string | null, expected: string | null]>([
  [301, "https://www.example.test/c", "https://www.example.test/c"],
  [302, "c", "https://www.example.test/a/c"],
  [303, "?x=1", "https://www.example.test/a/b?x=1"],
  [307, "#top", "https://www.example.test/a/b?x=1"],
  [308, "//other.example/", "https://other.example/"],
  [301, null, null],
  [301, "http://[", null],
  [201, "/a", null],
  [300, "/a", null],
  [304, "/a", null],
])("%d with Location %s leads to %s", (status, location, expected) => {
  expect(redirectTarget(status, location, URL_ASKED)).toBe(expected);
});
