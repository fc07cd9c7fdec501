import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { codingsMadeHere, encode } from "../../../server/compression/encode.ts";
import { CODINGS } from "../../../worker/rules/variants/accept-encoding.ts";
import { decoded } from "../../engine/decoded-body.ts";
import { holding } from "../../engine/held-dictionaries.ts";

describe.each(CODINGS)("%s", (coding) => {
  test.each([0, 1, 1000, 70_000, 3_000_000])("%s bytes come back", async (length) => {
    const body = new Uint8Array(
      Buffer.from("Pages repeat themselves, often. ".repeat(length / 32 + 1)).subarray(0, length),
    );
    const coded = await encode(coding, body, 5);
    expect(Buffer.compare(length === 0 ? body : decoded(coded, coding), body)).toBe(0);
    // Nothing else is held with it.
    expect(coded.buffer.byteLength).toBe(coded.byteLength);
  });
});

test("a frame of Zstandard has a window of at most 8 MiB, whatever the level", { tags: ["deep"] }, async () => {
  const body = new Uint8Array(20 * 1024 * 1024);
  const [, , , , header, descriptor] = await encode("zstd", body, 19);
  const isSingleSegment = (header! & 0x20) !== 0;
  expect(isSingleSegment).toBe(false);
  expect(10 + (descriptor! >> 3)).toBeLessThanOrEqual(23);
});

/** A script of lines that differ. */
function script(length: number): string {
  let state = 3;
  let text = "";
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += `const name${state.toString(36)} = ${state % 977};\n`;
  }
  return text.slice(0, length);
}

describe.each(codingsMadeHere())("%s", (coding) => {
  test.each([1024, 70_000, 3_000_000])(
    "a change in %s bytes makes a delta of some hundred bytes, wherever the change is",
    async (length) => {
      const before = script(length);
      for (const at of [0, Math.floor(length / 2), length]) {
        const after = new Uint8Array(Buffer.from(`${before.slice(0, at)}changed${before.slice(at)}`));
        holding(before);
        const dictionary = { bytes: Buffer.from(before), hash: hash("sha256", before, "base64url") };
        const coded = await encode(coding, after, 5, dictionary);
        expect(Buffer.compare(decoded(coded, coding), after)).toBe(0);
        expect(coded.byteLength).toBeLessThan(1500);
        expect(coded.buffer.byteLength).toBe(coded.byteLength);
      }
    },
  );
});

test("this Node makes deltas in Zstandard, and in Brotli only if it does so correctly", () => {
  expect(codingsMadeHere()).toContain("dcz");
});
