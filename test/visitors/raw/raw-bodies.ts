import fc from "fast-check";

/** A placeholder for a number. Each message gets its own number, of the same length, when it is sent. */
export const NUMBER = "00000000";
export const PAGE = `/page-${NUMBER}`;
export const HIDDEN = `/hidden-${NUMBER}`;
export const RAW_HOST = "raw.example.test";

/** A request that is hidden where another reader would look for one. */
export const HIDDEN_REQUEST = `GET ${HIDDEN} HTTP/1.1\r\nHost: ${RAW_HOST}\r\n\r\n`;

/** Mostly the first value, and otherwise one of the others. */
export function mostly(usual: string, odd: readonly string[], weight = 6): fc.Arbitrary<string> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
}

export const lineEnd = mostly("\r\n", ["\n", "\r", "\r\r\n", "\n\r", " \r\n", "\u0000\r\n", "\u000b\r\n", ""], 60);

/** The fields that mark the end of a message, and the bytes of its body. */
export interface FramedBody {
  /** Values after the names of fields, as they are on the wire. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const content = fc.oneof(fc.constantFrom("", "a=1", HIDDEN_REQUEST, "0\r\n\r\n", `0\r\n\r\n${HIDDEN_REQUEST}`));

/** Spellings of a length that two readers may read as different numbers. */
function lengths(size: number): string[] {
  const hex = size.toString(16);
  return [
    ...[`${size}`, "0", `${size - 1}`, `${size + 1}`, `+${size}`, `-${size}`, "-1", `0x${hex}`, hex, `0${size}`],
    ...[`${size}, ${size}`, `${size}, 0`, `0, ${size}`, `${size},`, `${size} ${size}`, ` ${size}`, `${size}\t`, ""],
    ...[`${size}.0`, `${size}e0`, `"${size}"`, `${size};`, `${size}\u000b`, `${size}\u0000`, `${size}\u00a0`, "1_0"],
    ...["18446744073709551616", `${2 ** 32 + size}`, `1${"0".repeat(400)}`, `\r\n ${size}`, `\r\n\t${size}`, "NaN"],
  ];
}

const CODINGS = [
  ...["chunked", "Chunked", "CHUNKED", "xchunked", "chunkedx", "identity", "gzip, chunked", "chunked, identity"],
  ...["chunked, chunked", "identity, chunked", ",chunked", "chunked,", "chunked;x=1", '"chunked"', " chunked", ""],
  ...["chunked ", "\tchunked", "\u000bchunked", "chunked\u0000", "chun\u0000ked", "\r\n chunked", "chunked\u00a0"],
  ...["cow", "chunk", "trailers", "chunked\rX: 1", "chunked\nX: 1"],
];

function oddFraming(size: number): fc.Arbitrary<[string, string]> {
  const length = fc.tuple(
    mostly("Content-Length", ["content-length", "Content_Length", "Content-Length\u0000", "CONTENT-LENGTH"]),
    fc.constantFrom(...lengths(size)),
  );
  const coding = fc.tuple(
    mostly("Transfer-Encoding", ["transfer-encoding", "Transfer_Encoding", "Transfer-Encoding\u0000", "TE"]),
    fc.oneof({ weight: 2, arbitrary: fc.constant("chunked") }, fc.constantFrom(...CODINGS)),
  );
  return fc.oneof(length, coding);
}

const chunk = fc
  .record({
    data: fc.constantFrom("ab", "a=1", HIDDEN_REQUEST, "\r\n", "0\r\n\r\n"),
    size: fc.option(
      fc.constantFrom(
        ...["0x2", "+2", "-2", " 2", "2 ", "02", "2g", "", "G", "2.0", "2_", "000000000000000002", "2\u0000"],
        ...["10000000000000000", "ffffffffffffffff", "7fffffffffffffff", "100000002"],
      ),
      { freq: 8 },
    ),
    extension: mostly("", [
      ...[
        ";a",
        ";a=b",
        ';a="b"',
        " ;a",
        ";",
        ";a\n",
        ";a\r",
        `;${"x".repeat(300)}`,
        ";\u0000",
        ";\u00ff",
        '; a="\r\n"',
      ],
      `;${HIDDEN_REQUEST}`,
    ]),
    sizeEnd: lineEnd,
    dataEnd: lineEnd,
  })
  .map(
    ({ data, size, extension, sizeEnd, dataEnd }) =>
      `${size ?? data.length.toString(16)}${extension}${sizeEnd}${data}${dataEnd}`,
  );

const lastChunk = fc
  .tuple(
    mostly("0", ["00", "-0", "0;a=b", "0 ", "", "x", "0x0"]),
    lineEnd,
    mostly("", [`X-Trailer: 1\r\n`, "Content-Length: 5\r\n", "Host: evil.example\r\n", " fold\r\n", ":\r\n", "a\r\n"]),
    lineEnd,
  )
  .map((parts) => parts.join(""));

const chunks = fc.tuple(fc.array(chunk, { maxLength: 2 }), lastChunk).map(([some, last]) => some.join("") + last);

const anyBody = fc.oneof({ weight: 2, arbitrary: content }, chunks);

/** Bodies framed correctly, by two rules at once, by none, and by fields that only resemble framing. */
export const framedBody: fc.Arbitrary<FramedBody> = fc.oneof(
  fc.constant({ fields: [], body: "" }),
  content.map((body) => ({ fields: [["Content-Length", `${body.length}`] as const], body })),
  { weight: 2, arbitrary: chunks.map((body) => ({ fields: [["Transfer-Encoding", "chunked"] as const], body })) },
  {
    weight: 4,
    arbitrary: anyBody.chain((body) =>
      fc.record({
        fields: fc.array(oddFraming(body.length), { minLength: 1, maxLength: 2 }),
        body: fc.constant(body),
      }),
    ),
  },
);
