import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { availableDictionary, dictionaryHeader } from "../../../worker/rules/deltas/available-dictionary.ts";
import { wantedDictionaryCodings } from "../../../worker/rules/variants/wanted-codings.ts";

describe("availableDictionary", () => {
  test.each<[string, string | null, string | null]>([
    [
      "the example of the RFC",
      ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:",
      "pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4",
    ],
    ["all characters of base 64", `:+/${"a".repeat(41)}=:`, `-_${"a".repeat(41)}`],
    ["no padding", `:${"a".repeat(43)}:`, "a".repeat(43)],
    ["parameters, which are ignored", `:${"a".repeat(43)}=:;x=1`, "a".repeat(43)],
    ["no field", null, null],
    ["a token", "a".repeat(43), null],
    ["a string", `"${"a".repeat(43)}="`, null],
    ["a hash that is too short", `:${"a".repeat(42)}:`, null],
    ["a hash that is too long", `:${"a".repeat(44)}:`, null],
    ["two members", `:${"a".repeat(43)}=:, :${"b".repeat(43)}=:`, null],
    ["nothing", "", null],
  ])("%s", (_, field, hash) => {
    expect(availableDictionary(field)).toBe(hash);
  });
});

test("the headers of both codings have the magic numbers of the RFC, and the hash", () => {
  const sha256 = createHash("sha256").update("a dictionary").digest();
  expect(Buffer.from(dictionaryHeader("dcz", sha256)).toString("hex")).toBe(
    `5e2a4d1820000000${sha256.toString("hex")}`,
  );
  expect(Buffer.from(dictionaryHeader("dcb", sha256)).toString("hex")).toBe(`ff444342${sha256.toString("hex")}`);
});

describe("wantedDictionaryCodings", () => {
  test.each<[string | null, string[]]>([
    ["gzip, deflate, br, zstd, dcb, dcz", ["dcz", "dcb"]],
    ["br, dcb", ["dcb"]],
    ["DCZ", ["dcz"]],
    ["br, zstd", []],
    ["*", []],
    ["dcz;q=0, dcb", ["dcb"]],
    ["dcz;q=0", []],
    ["dcz;q=0.5, dcb", ["dcb"]],
    ["br, dcz;q=0.9", []],
    ["br;q=0.9, dcz;q=0.9", ["dcz"]],
    ["identity, dcz;q=0.9", []],
    ["*;q=0.5, dcz", ["dcz"]],
    ["dcz;q=high", []],
    [null, []],
  ])("%s", (field, wanted) => {
    expect(wantedDictionaryCodings(field, ["dcz", "dcb"])).toEqual(wanted);
  });
});
