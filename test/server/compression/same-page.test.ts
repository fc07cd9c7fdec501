import fc from "fast-check";
import { expect, test } from "vitest";
import { byDepth } from "../../suite/depth.ts";
import { CompressingIsolate, type OriginPage, type Received } from "./compressing-isolate.ts";

/*
 * Whatever a client accepts and asks for, it gets what it would get without compression: the same status, the same bytes
 * once they are decoded, and the same fields but for those of a page that has two forms.
 */

const CODINGS = ["br", "gzip", "zstd"] as const;

/** The first one in most cases. */
function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

const weight = mostly("", ";q=0", ";q=0.0", ";q=0.001", ";q=0.5", "; q=1", ";q=1.000", ";q=2", ";q=", ";level=1");
const member = fc
  .tuple(
    fc.constantFrom(
      ...CODINGS,
      ...CODINGS,
      ...CODINGS,
      "GZIP",
      "x-gzip",
      "identity",
      "*",
      "deflate",
      "",
      "q=1",
      "br br",
    ),
    weight,
  )
  .map(([name, text]) => name + text);
const acceptEncoding = fc.option(
  fc.array(member, { maxLength: 5 }).map((members) => members.join(", ")),
  { nil: null },
);

const request = fc.record({
  method: mostly("GET", "HEAD"),
  acceptEncoding,
  ifNoneMatch: mostly<string | null>(null, '"1"', 'W/"1"', '"2"', '"2", W/"1"', "*", "1"),
  range: mostly<string | null>(null, "bytes=0-9", "bytes=-5", "bytes=10-", "bytes=99999-", "bytes=0-1,5-6", "lines=1"),
  ifRange: fc.constantFrom(null, '"1"', 'W/"1"', '"2"'),
  cacheControl: mostly<string | null>(null, "no-transform", "max-age=0, no-transform", "no-cache"),
});

const page: fc.Arbitrary<OriginPage> = fc
  .record({
    body: fc.oneof(
      { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 40 }).map((text) => text.repeat(100)) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 3000 }) },
      { weight: 1, arbitrary: fc.constant("") },
    ),
    type: mostly("text/html", "Text/Plain; charset=utf-8", "image/png", "application/ld+json", "", "text/event-stream"),
    control: mostly("max-age=60", "max-age=60, no-transform", "public, s-maxage=60", "no-store", 'max-age=60, x="'),
    etag: fc.constantFrom<(string | null)[]>(null, '"1"', 'W/"1"', "1"),
    vary: mostly<string | null>(null, "Accept-Encoding", "Origin", "accept-language , ", "*"),
    other: mostly<string | null>(null, "content-md5", "repr-digest", "accept-ranges", "link"),
    encoding: mostly<string | null>(null, "identity", "unknown"),
    status: mostly(200, 404, 203),
  })
  .map(({ body, type, control, etag, vary, other, encoding, status }) => ({
    status,
    body,
    fields: Object.fromEntries(
      [
        ["cache-control", control],
        ["content-type", type === "" ? null : type],
        ["etag", etag],
        ["vary", vary],
        ["content-encoding", encoding],
        ...(other === null ? [] : [[other, "x"]]),
      ].filter((field): field is [string, string] => field[1] !== null),
    ),
  }));

const withoutWeakness = (tag: string | undefined) => tag?.replace(/^W\//, "");

/** The names in a `Vary`, without `Accept-Encoding`. */
function otherNames(vary: string | undefined): string[] {
  const names = (vary ?? "").split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "" && name !== "accept-encoding");
}

/** Whether a client accepts a coding, as RFC 9110 §12.5.3 says, for texts without mistakes. */
function accepts(field: string | null, coding: string): boolean {
  const weights = new Map<string, number>();
  for (const text of (field ?? "").toLowerCase().split(",")) {
    const [name, weight = "q=1"] = text
      .trim()
      .replace("x-gzip", "gzip")
      .split(/\s*;\s*/);
    if (!/^q=(0(\.\d*)?|1(\.0*)?)$/.test(weight)) continue;
    weights.set(name!, Math.min(weights.get(name!) ?? 1, Number(weight.slice(2))));
  }
  return (weights.get(coding) ?? weights.get("*") ?? 0) > 0;
}

/** What has to be the same in all answers. A length is that of the form, and HEAD alone tells it here. */
function common({ status, text, fields }: Received) {
  const { etag, vary, "content-encoding": _, "content-length": __, "content-type": type, ...others } = fields;
  const multipart = type?.startsWith("multipart/byteranges");
  return {
    status,
    text: multipart ? text.replaceAll(/part-\w+/g, "part") : text,
    type: multipart ? "multipart" : type,
    etag: withoutWeakness(etag),
    vary: otherNames(vary),
    others,
  };
}

test("with compression every client gets the same page as without", {
  tags: ["gate"],
  timeout: 120_000,
}, async () => {
  let coded = 0;
  await fc.assert(
    fc.asyncProperty(page, fc.array(request, { minLength: 1, maxLength: 6 }), async (ofOrigin, requests) => {
      const compression = { minBytes: 1, types: ["text/*", "*+json"] };
      const [edge, plain] = [new CompressingIsolate({ compression }), new CompressingIsolate({ compression: null })];
      for (const each of [edge, plain]) each.pages.set("/a", ofOrigin);
      for (const { method, ...sent } of requests) {
        const names = { acceptEncoding: "accept-encoding", ifNoneMatch: "if-none-match", ifRange: "if-range" } as const;
        const fields = Object.fromEntries(
          Object.entries({ ...sent, cacheControl: null, "cache-control": sent.cacheControl })
            .filter((field): field is [string, string] => field[1] !== null)
            .map(([name, value]) => [names[name as keyof typeof names] ?? name, value]),
        );
        for (let again = 0; again < 3; again++) {
          const got = await edge.ask("/a", fields, method);
          const wanted = await plain.ask("/a", fields, method);
          await Promise.all([edge.settled(), plain.settled()]);
          expect(common(got)).toEqual(common(wanted));
          const madeHere = got.coding !== null && got.coding !== wanted.coding;
          if (!madeHere) continue;
          coded++;
          expect(CODINGS).toContain(got.coding);
          expect(accepts(sent.acceptEncoding, got.coding!)).toBe(true);
          expect(got.status).toBe(200);
          expect(got.fields.vary?.toLowerCase()).toContain("accept-encoding");
          expect(got.fields.etag ?? 'W/""').toMatch(/^W\//);
          expect(sent.cacheControl ?? "").not.toContain("no-transform");
          expect(ofOrigin.fields!["cache-control"]).not.toContain("no-transform");
          if (method === "GET") expect(got.bytes.byteLength).toBeLessThan(wanted.bytes.byteLength);
        }
      }
      expect([...edge.failures, ...plain.failures]).toEqual([]);
    }),
    { numRuns: byDepth({ test: 80, gate: 80, all: 150 }) },
  );
  // Control: many of them were coded.
  expect(coded).toBeGreaterThan(50);
});
