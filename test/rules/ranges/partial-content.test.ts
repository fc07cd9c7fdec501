import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contentRange, multipartByteranges, unsatisfiedRange } from "../../../worker/rules/ranges/partial-content.ts";

test("Content-Range names the part and the length of the whole (RFC 9110 §14.4)", () => {
  expect(contentRange({ first: 0, last: 4 }, 10)).toBe("bytes 0-4/10");
});

test("Content-Range of a 416 names the length alone (RFC 9110 §15.5.17)", () => {
  expect(unsatisfiedRange(10)).toBe("bytes */10");
});

/** The body that a caller makes from the pieces. */
function bodyOf(pieces: readonly (string | { first: number; last: number })[], stored: string): Buffer {
  return Buffer.concat(
    pieces.map((piece) =>
      typeof piece === "string" ? Buffer.from(piece) : Buffer.from(stored).subarray(piece.first, piece.last + 1),
    ),
  );
}

describe("multipartByteranges", () => {
  const two = [
    { first: 0, last: 1 },
    { first: 7, last: 9 },
  ];

  test("each part has a head with its type and place, and the end is marked (RFC 9110 §14.6)", () => {
    const { contentType, lengthBytes, pieces } = multipartByteranges(two, 10, "text/plain", "SEP");
    const body = bodyOf(pieces, "0123456789");
    expect(contentType).toBe("multipart/byteranges; boundary=SEP");
    expect(body.toString()).toBe(
      [
        "",
        "--SEP",
        "Content-Type: text/plain",
        "Content-Range: bytes 0-1/10",
        "",
        "01",
        "--SEP",
        "Content-Type: text/plain",
        "Content-Range: bytes 7-9/10",
        "",
        "789",
        "--SEP--",
        "",
      ].join("\r\n"),
    );
    expect(lengthBytes).toBe(body.length);
  });

  test("a body without a type has parts without one (RFC 9110 §15.3.7.2)", () => {
    const { pieces } = multipartByteranges(two, 10, null, "SEP");
    expect(pieces[0]).toBe("\r\n--SEP\r\nContent-Range: bytes 0-1/10\r\n\r\n");
  });

  test("the length is that of the bytes, also where a type is not ASCII", () => {
    const part = fc.tuple(fc.nat(50), fc.nat(49)).map(([first, more]) => ({ first, last: first + more }));
    const stored = "x".repeat(100);
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), fc.option(fc.string({ unit: "grapheme" })), (parts, type) => {
        const { lengthBytes, pieces } = multipartByteranges(parts, 100, type, "SEP");
        expect(lengthBytes).toBe(bodyOf(pieces, stored).length);
      }),
    );
  });
});
