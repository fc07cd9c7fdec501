import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import type { Identity } from "../../../worker/rules/identity/identity.ts";
import {
  answerDigest,
  compareAnswers,
  fieldsThatMayChoose,
  plainRequest,
} from "../../../worker/rules/request/second-look.ts";
import { bodyDigest } from "../../../worker/rules/storing/body-digest.ts";

const NONE = { keyFields: [], droppedFields: [], trustedFields: [] };
type Lines = readonly (readonly [name: string, value: string])[];

describe("plainRequest", () => {
  test.each<{ name: string; fields: Lines; identity?: Identity; inKey?: string[]; leftOut: string[] | null }>([
    {
      name: "unknown fields are left out, and others stay",
      fields: [
        ["accept", "*/*"],
        ["X-App-Version", "7"],
        ["x-os", "a"],
      ],
      leftOut: ["x-app-version", "x-os"],
    },
    { name: "a field that selects stays", fields: [["x-tenant", "a"]], inKey: ["x-tenant"], leftOut: null },
    {
      name: "of a signed request there is none, also where the signature selects",
      fields: [
        ["signature", 'keyId="a"'],
        ["date", "Mon, 30 Nov 2026 03:00:00 GMT"],
      ],
      inKey: ["signature"],
      leftOut: null,
    },
    { name: "where nothing is left out, there is none", fields: [["accept", "*/*"]], leftOut: null },
    { name: "with cookies that count there is none", fields: [["x-a", "1"]], identity: "cookies", leftOut: null },
    { name: "with credentials there is none", fields: [["x-a", "1"]], identity: "authorized", leftOut: null },
    ...["x-api-key", "x-csrf-token", "x-auth", "x-session", "x-signature", "x-user-id", "origin"].map((name) => ({
      name: `for ${name} there is none`,
      fields: [
        ["x-a", "1"],
        [name, "1"],
      ] as Lines,
      leftOut: null,
    })),
    { name: "for an unusual value of a usual field there is none", fields: [["user-agent", "<b>"]], leftOut: null },
    {
      name: "for more than sixteen fields there is none",
      fields: [...Array(17)].map((_, index) => [`x-${index}`, "1"] as const),
      leftOut: null,
    },
    {
      name: "sixteen are left out",
      fields: [...Array(16)].map((_, index) => [`x-${index}`, "1"] as const),
      leftOut: [...Array(16)].map((_, index) => `x-${index}`),
    },
  ])("$name", ({ fields, identity = "anonymous", inKey = [], leftOut }) => {
    const plain = plainRequest(new Fields(fields), identity, inKey, NONE);
    expect(plain?.leftOut.map(([name]) => name) ?? null).toEqual(leftOut);
    if (plain) expect([...plain.fields]).toEqual([...new Fields(fields)].filter(([name]) => !leftOut!.includes(name)));
  });
});

describe("what two sights say", () => {
  const a = { status: 200, digest: "a" };
  const b = { ...a, digest: "b" };

  test.each([
    [a, a, "alike"],
    [a, b, "differs"],
    [a, { ...a, status: 404 }, "unlike"],
    [{ ...a, digest: null }, b, "alike"],
  ] as const)("%j and %j: %s", (odd, plain, says) => {
    expect(compareAnswers(odd, plain)).toBe(says);
  });

  test("a field may have chosen the page if it is alone", () => {
    expect(fieldsThatMayChoose(["x-a"])).toEqual(["x-a"]);
    expect(fieldsThatMayChoose(["x-a", "x-b"])).toEqual([]);
  });

  test("among several, those by which a framework may choose parts may have", () => {
    expect(fieldsThatMayChoose(["hx-current-url", "hx-target", "x-a"])).toEqual(["hx-target"]);
    expect(fieldsThatMayChoose(["hx-target", "hx-trigger"])).toEqual(["hx-target", "hx-trigger"]);
    const unpoly = ["context", "mode", "target"]
      .map((each) => `x-up-fail-${each}`)
      .concat("x-up-origin-mode", "x-up-validate");
    expect(fieldsThatMayChoose(unpoly)).toEqual(unpoly);
    expect(fieldsThatMayChoose([...unpoly, "x-up-invented"])).toEqual([]);
  });
});

test.each(["location", "content-type", "content-disposition", "content-language"])(
  "two answers with the same body and another %s are not the same",
  (name) => {
    const digest = (value: string) =>
      answerDigest({ status: 200, fields: Fields.copy([[name, value]]) }, new Uint8Array(3)).digest;
    expect(digest("a")).toBe(digest("a"));
    expect(digest("a")).not.toBe(digest("b"));
  },
);

test("the date of an answer, and what else is made for each, does not make it another one", () => {
  const digest = (date: string) =>
    answerDigest({ status: 200, fields: Fields.copy([["date", date]]) }, new Uint8Array(3)).digest;
  expect(digest("a")).toBe(digest("b"));
});

test("digests tell bodies apart by length, content and order", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const digests = ["", "a", "b", "ab", "ba", "aa", "\0", "\0\0"].map((text) => bodyDigest(bytes(text)));
  expect(new Set(digests).size).toBe(digests.length);
  expect(bodyDigest(bytes("ab"))).toBe(bodyDigest(bytes("ab")));
  for (const length of [15, 16, 17, 64 * 1024 - 1, 64 * 1024, 70_000]) {
    const alone = bodyDigest(bytes("a".repeat(length)));
    bodyDigest(bytes("b".repeat(100_000)));
    bodyDigest(bytes("b".repeat(length + 16)));
    expect(bodyDigest(bytes("a".repeat(length)))).toBe(alone);
    expect(bodyDigest(bytes(`${"a".repeat(length - 1)}b`))).not.toBe(alone);
  }
});
