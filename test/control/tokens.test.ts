import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readNamedTokens, whyClosed } from "../../worker/control/access/named-tokens.ts";
import {
  bearerToken,
  configuredTokens as configured,
  type TokenSettings,
  tokenWeakness,
} from "../../worker/control/access/tokens.ts";

const OLD = "Zt7q1mVx9Kp3Rw5Yc2Bn8Hd4Lf6Gs0Ja";
const NEW = "aJ0sG6fL4dH8nB2cY5wR3pK9xVm1q7tZ";
const OTHER = "qL5Tn8Wb1Xe4Rv7Yz2Uc9Mk3Pj6Hd0Sg";

const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");
const named = (name: string, token: string, ...scopes: string[]) => ({ name, scopes, sha256: sha256(token) });
const unheard = () => undefined;
const configuredTokens = (settings: TokenSettings, warn: (line: string) => void) =>
  configured(settings, warn, readNamedTokens);

describe("a token is replaced without a gap", () => {
  const steps = [
    { name: "the old one alone", settings: { TIDEMARK_TOKENS: [named("shop", OLD, "purge")] }, opens: [OLD] },
    {
      name: "both, under one name",
      settings: { TIDEMARK_TOKENS: [named("shop", OLD, "purge"), named("shop", NEW, "purge")] },
      opens: [OLD, NEW],
    },
    { name: "the new one alone", settings: { TIDEMARK_TOKENS: [named("shop", NEW, "purge")] }, opens: [NEW] },
    {
      name: "TIDEMARK_TOKEN beside a list",
      settings: { TIDEMARK_TOKEN: OLD, TIDEMARK_TOKENS: [named("shop", NEW, "purge")] },
      opens: [OLD, NEW],
    },
  ];

  test.each(steps)("$name", async ({ settings, opens }) => {
    const { TIDEMARK_TOKEN, TIDEMARK_TOKENS } = settings as { TIDEMARK_TOKEN?: string; TIDEMARK_TOKENS: unknown };
    const tokens = configuredTokens({ TIDEMARK_TOKEN, TIDEMARK_TOKENS: JSON.stringify(TIDEMARK_TOKENS) }, unheard);
    for (const token of [OLD, NEW, OTHER]) {
      const name = token === TIDEMARK_TOKEN ? "TIDEMARK_TOKEN" : "shop";
      const expected = opens.includes(token) ? { kind: "allowed", name } : { kind: "refused", because: "unauthorized" };
      expect(await tokens.check(token, "purge")).toEqual(expected);
    }
  });
});

describe("scopes", () => {
  const list = [named("shop", OLD, "purge"), named("board", NEW, "read"), named("both", OTHER, "read", "purge")];
  const tokens = configuredTokens({ TIDEMARK_TOKENS: JSON.stringify(list) }, unheard);

  test.each([
    [OLD, "purge", { kind: "allowed", name: "shop" }],
    [OLD, "read", { kind: "refused", because: "forbidden" }],
    [NEW, "read", { kind: "allowed", name: "board" }],
    [NEW, "purge", { kind: "refused", because: "forbidden" }],
    [OTHER, "read", { kind: "allowed", name: "both" }],
    [OTHER, "purge", { kind: "allowed", name: "both" }],
    [null, "read", { kind: "refused", because: "unauthorized" }],
  ] as const)("%s for %s", async (token, scope, expected) => {
    expect(await tokens.check(token, scope)).toEqual(expected);
  });

  test("one token in two entries has the scopes of both, and each under its name", async () => {
    const twice = [named("reader", OLD, "read"), named("purger", OLD, "purge")];
    const both = configuredTokens({ TIDEMARK_TOKENS: JSON.stringify(twice) }, unheard);
    expect(await both.check(OLD, "read")).toEqual({ kind: "allowed", name: "reader" });
    expect(await both.check(OLD, "purge")).toEqual({ kind: "allowed", name: "purger" });
  });
});

describe("the control plane is closed", () => {
  const NOT_SET = "TIDEMARK_TOKEN is not set";
  const NO_LIST = "TIDEMARK_TOKENS cannot be read";

  test.each([
    ["without any token", {}, 0, NOT_SET],
    ["with an empty list", { TIDEMARK_TOKENS: "[]" }, 0, NOT_SET],
    ["with a list that is no JSON", { TIDEMARK_TOKEN: OLD, TIDEMARK_TOKENS: "[{" }, 1, NO_LIST],
    ["with a scope that is none", { TIDEMARK_TOKENS: JSON.stringify([named("shop", OLD, "purges")]) }, 1, NO_LIST],
    ["with a hash that is none", { TIDEMARK_TOKENS: '[{"name":"a","scopes":["read"],"sha256":"ff"}]' }, 1, NO_LIST],
  ])("%s", async (_, settings, lines, why) => {
    const told: string[] = [];
    const tokens = configuredTokens(settings, (line) => told.push(line));
    expect(await tokens.check(OLD, "purge")).toEqual({ kind: "refused", because: "no-tokens", why });
    expect(told).toHaveLength(lines);
    expect(told).toEqual([whyClosed(settings)].filter((line) => line !== null));
    expect(told.join()).not.toContain(OLD);
  });
});

test.each([
  ["Bearer abc", "abc"],
  ["bearer  abc ", "abc"],
  ["Bearer", null],
  ["Bearer a b", null],
  ["Basic abc", null],
  [null, null],
])("Authorization: %s holds the token %s", (field, token) => {
  expect(bearerToken(field)).toBe(token);
});

describe("tokenWeakness", () => {
  test.each([
    [OLD, null],
    [OLD.slice(1), expect.stringContaining("fewer than 32 characters")],
    ["", expect.stringContaining("fewer than 32 characters")],
    ["a".repeat(64), expect.stringContaining("not random")],
    ["abcdefghi".repeat(4), expect.stringContaining("not random")],
    ["abcdefghij".repeat(4), null],
    [`${OLD} ${OLD}`, expect.stringContaining("cannot be sent")],
    [`${OLD}é`, expect.stringContaining("cannot be sent")],
  ])("%j: %j", (token, weakness) => {
    expect(tokenWeakness(token)).toEqual(weakness);
  });
});

test.each([
  ["a line end behind it", `${OLD}\n`],
  ["spaces around it", ` ${OLD}\t`],
])("a token with %s opens the control plane, and signs the sessions of the token alone", async (_, spaced) => {
  const told: string[] = [];
  const tokens = configuredTokens({ TIDEMARK_TOKEN: spaced }, (line) => told.push(line));
  expect(await tokens.check(OLD, "purge")).toEqual({ kind: "allowed", name: "TIDEMARK_TOKEN" });
  const { id } = await tokens.sessions!.open(OLD, 0);
  expect(await configuredTokens({ TIDEMARK_TOKEN: OLD }, unheard).sessions!.nameOf(id, 0)).toBe("TIDEMARK_TOKEN");
  expect(told).toEqual([]);
});

test("a token that is a number, as JSON allows, is weak", () => {
  const settings = { TIDEMARK_TOKEN: 12345678901234567000 as unknown as string };
  expect(whyClosed(settings)).toMatch(/^TIDEMARK_TOKEN is weak: it has fewer than 32 characters/);
});

test("a token of nothing but a line end is none", async () => {
  const tokens = configuredTokens({ TIDEMARK_TOKEN: "\n" }, unheard);
  expect(await tokens.check(OLD, "purge")).toMatchObject({ why: "TIDEMARK_TOKEN is not set" });
});

test.each([
  ["no JSON", "[{", "Invalid input: expected array, received string"],
  ["no list", "{}", "Invalid input: expected array, received object"],
])("TIDEMARK_TOKENS that are %s: the log has a whole sentence about them", async (_, text, fault) => {
  const told: string[] = [];
  await configuredTokens({ TIDEMARK_TOKENS: text }, (line) => told.push(line)).check(OLD, "purge");
  const what = "TIDEMARK_TOKENS is not a JSON list of {name, scopes, sha256}";
  expect(told).toEqual([
    `${what}: ${fault}. The control plane stays closed until this is corrected. Pages are served.`,
  ]);
});

describe("a token that could be guessed", () => {
  const WEAK = "TIDEMARK_TOKEN is weak: it has fewer than 32 characters: make one with: openssl rand -base64 32";

  const checkedWith = async (settings: Parameters<typeof configuredTokens>[0], token: string) => {
    const told: string[] = [];
    const verdict = await configuredTokens(settings, (line) => told.push(line)).check(token, "purge");
    return { verdict, told };
  };

  test("is refused, and the log says why without naming it", async () => {
    const { verdict, told } = await checkedWith({ TIDEMARK_TOKEN: "hunter2" }, "hunter2");
    expect(verdict).toEqual({ kind: "refused", because: "no-tokens", why: WEAK });
    expect(told).toEqual([expect.stringMatching(new RegExp(`^${WEAK}\\. The control plane stays closed`))]);
    expect(told).toEqual([whyClosed({ TIDEMARK_TOKEN: "hunter2" })]);
    expect(told.join()).not.toContain("hunter2");
  });

  test("closes the control plane for the other tokens, too", async () => {
    const list = JSON.stringify([named("shop", OLD, "purge")]);
    const { verdict } = await checkedWith({ TIDEMARK_TOKEN: "weak", TIDEMARK_TOKENS: list }, OLD);
    expect(verdict).toEqual({ kind: "refused", because: "no-tokens", why: WEAK });
  });

  test("is accepted on a laptop", async () => {
    const { verdict, told } = await checkedWith({ TIDEMARK_TOKEN: "weak", acceptsWeakTokens: true }, "weak");
    expect({ verdict, told }).toEqual({ verdict: { kind: "allowed", name: "TIDEMARK_TOKEN" }, told: [] });
  });

  test("control: a good token is allowed, and another one is not", async () => {
    const { verdict } = await checkedWith({ TIDEMARK_TOKEN: OLD }, OLD);
    expect(verdict).toEqual({ kind: "allowed", name: "TIDEMARK_TOKEN" });
    expect((await checkedWith({ TIDEMARK_TOKEN: OLD }, OTHER)).verdict).toMatchObject({
      because: "unauthorized",
    });
  });
});
