import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readNamedTokens } from "../../worker/control/access/named-tokens.ts";
import { configuredTokens, type TokenSettings } from "../../worker/control/access/tokens.ts";
import type { Tokens } from "../../worker/ports/access.ts";

const SECRET = "Zt7q1mVx9Kp3Rw5Yc2Bn8Hd4Lf6Gs0Ja";
const OTHER_SECRET = "aJ0sG6fL4dH8nB2cY5wR3pK9xVm1q7tZ";
const BOARD = "qL5Tn8Wb1Xe4Rv7Yz2Uc9Mk3Pj6Hd0Sg";
const NOW = 1_767_225_600_250;
const HOURS = 3_600_000;

const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");
const board = (...scopes: string[]) => JSON.stringify([{ name: "board", scopes, sha256: sha256(BOARD) }]);

function tokensOf(settings: TokenSettings): Tokens {
  return configuredTokens(settings, () => undefined, readNamedTokens);
}

/** The name behind a session, as another isolate with these settings sees it. */
async function nameOf(id: string, settings: TokenSettings, now = NOW): Promise<string | null | undefined> {
  return tokensOf(settings).sessions?.nameOf(id, now);
}

async function sessionOf(token: string, settings: TokenSettings): Promise<{ id: string; endsAt: number }> {
  return tokensOf(settings).sessions!.open(token, NOW);
}

describe("a session", () => {
  const both = { TIDEMARK_TOKEN: SECRET, TIDEMARK_TOKENS: board("read") };

  test.each([
    [SECRET, "TIDEMARK_TOKEN"],
    [BOARD, "board"],
  ])("is valid in every isolate, under the name of its token", async (token, name) => {
    const { id } = await sessionOf(token, both);
    expect(await nameOf(id, both)).toBe(name);
  });

  test("fits into a cookie as it is, and does not reveal the token", async () => {
    const { id } = await sessionOf(BOARD, both);
    expect(id).toMatch(/^[0-9]{10}\.[A-Za-z0-9_-]{43}$/);
    for (const secret of [SECRET, BOARD, sha256(SECRET), sha256(BOARD)]) expect(id).not.toContain(secret.slice(0, 8));
  });

  test("ends after twelve hours, to the second", async () => {
    const { id, endsAt } = await sessionOf(BOARD, both);
    expect(endsAt).toBe(Math.floor((NOW + 12 * HOURS) / 1000) * 1000);
    expect(await nameOf(id, both, endsAt - 1)).toBe("board");
    expect(await nameOf(id, both, endsAt)).toBe(null);
    expect(await nameOf(id, both, endsAt + 1)).toBe(null);
  });

  test.each([
    ["the token has left the list", { TIDEMARK_TOKEN: SECRET, TIDEMARK_TOKENS: "[]" }],
    ["the token may no longer read", { TIDEMARK_TOKEN: SECRET, TIDEMARK_TOKENS: board("purge") }],
    ["the secret was replaced", { TIDEMARK_TOKEN: OTHER_SECRET, TIDEMARK_TOKENS: board("read") }],
  ])("ends as soon as %s", async (_, settings) => {
    const { id } = await sessionOf(BOARD, both);
    expect(await nameOf(id, settings)).toBe(null);
    expect(await nameOf(id, both)).toBe("board"); // control
  });

  test("ends when its token changes", async () => {
    const { id } = await sessionOf(SECRET, both);
    expect(await nameOf(id, { ...both, TIDEMARK_TOKEN: OTHER_SECRET })).toBe(null);
  });

  test.each([
    ["a later end", (id: string) => id.replace(/^\d+/, (ends) => String(Number(ends) + 1))],
    ["another code", (id: string) => id.replace(/\.(.)/, (_, first) => `.${first === "A" ? "B" : "A"}`)],
    ["no code", (id: string) => id.replace(/\..*/, ".")],
    ["more than a code", (id: string) => `${id}A`],
    ["an end that is no number", (id: string) => id.replace(/^\d+/, "9".repeat(400))],
    ["nothing", () => ""],
  ])("with %s is none", async (_, change) => {
    const { id } = await sessionOf(BOARD, both);
    expect(await nameOf(change(id), both)).toBe(null);
  });

  test("cannot be forged from the list of hashes, which is not secret", async () => {
    const ends = Math.floor(NOW / 1000) + 60;
    const signed = Buffer.concat([Buffer.from(`tidemark-session ${ends} `), Buffer.from(sha256(BOARD), "hex")]);
    const by = (secret: string | Buffer) =>
      `${ends}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
    expect(await nameOf(by(SECRET), both)).toBe("board"); // control: this is how a session is made
    for (const known of [sha256(BOARD), Buffer.from(sha256(BOARD), "hex"), "", BOARD]) {
      expect(await nameOf(by(known || "x"), both)).toBe(null);
    }
  });
});

test.each([
  ["only hashes of tokens are known", { TIDEMARK_TOKENS: board("read") }],
  ["there is no token", {}],
  ["the token could be guessed", { TIDEMARK_TOKEN: "hunter2" }],
])("there are no sessions where %s", (_, settings) => {
  expect(tokensOf(settings).sessions).toBeUndefined();
});

test("where the list cannot be read, no session is known, and no token may open one", async () => {
  const { id } = await tokensOf({ TIDEMARK_TOKEN: SECRET }).sessions!.open(SECRET, NOW);
  const broken = tokensOf({ TIDEMARK_TOKEN: SECRET, TIDEMARK_TOKENS: "[{" });
  expect(await broken.sessions!.nameOf(id, NOW)).toBeNull();
  expect(await broken.check(SECRET, "read")).toMatchObject({ kind: "refused", because: "no-tokens" });
});
