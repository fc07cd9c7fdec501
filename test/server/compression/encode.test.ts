import { describe, expect, test } from "vitest";
import { encode } from "../../../server/compression/encode.ts";
import { CODINGS } from "../../../worker/rules/variants/accept-encoding.ts";
import { decoded } from "../../engine/decoded-body.ts";

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
