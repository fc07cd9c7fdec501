import { describe, expect, test } from "vitest";
import {
  codedFormFields,
  heldForm,
  plainFormFields,
  variedBy,
  weakFormFields,
  whyPlain,
} from "../../../worker/rules/variants/coded-form.ts";

const RULES = { minBytes: 100, maxBytes: 1000, types: ["text/*", "application/json", "*+xml"] };

function why(
  fields: Readonly<Record<string, string>>,
  { status = 200, bodyBytes = 500 as number | null, directives = [] as readonly string[] } = {},
) {
  return whyPlain({ status, field: (name) => fields[name] ?? null, directives, bodyBytes }, RULES);
}

describe("whether a response is coded", () => {
  const html = { "content-type": "text/html" };

  test.each([
    { type: "text/html", because: null },
    { type: "TEXT/HTML; Charset=UTF-8", because: null },
    { type: " application/json ;charset=utf-8", because: null },
    { type: "image/svg+xml", because: null },
    { type: "application/jsonp", because: "type" },
    { type: "application/ld+json", because: "type" },
    { type: "textual/html", because: "type" },
    { type: "image/png", because: "type" },
    { type: "", because: "type" },
  ])("type $type: $because", ({ type, because }) => {
    expect(why({ "content-type": type })).toBe(because);
  });

  test("not without a type", () => {
    expect(why({})).toBe("type");
  });

  test.each([
    { bodyBytes: 99, because: "size" },
    { bodyBytes: 100, because: null },
    { bodyBytes: 1000, because: null },
    { bodyBytes: 1001, because: "size" },
    { bodyBytes: null, because: null },
  ])("$bodyBytes bytes: $because", ({ bodyBytes, because }) => {
    expect(why(html, { bodyBytes })).toBe(because);
  });

  test.each([201, 203, 204, 206, 301, 404, 500])("not with status %s", (status) => {
    expect(why(html, { status })).toBe("status");
  });

  test.each(["gzip", "br", "identity", "unknown"])("not if the origin has named the coding %s", (coding) => {
    expect(why({ ...html, "content-encoding": coding })).toBe("encoded");
  });

  test.each(["content-digest", "repr-digest", "digest", "content-md5", "signature"])("not with %s", (name) => {
    expect(why({ ...html, [name]: "x" })).toBe("digest");
  });

  test.each([
    { text: "max-age=60", because: null },
    { text: "max-age=60, No-Transform", because: "no-transform" },
    { text: "x-no-transform", because: null },
    { text: 'private="no-transform"', because: null },
    { text: "no-transform; max-age=60", because: "no-transform" }, // It cannot be read.
  ])("RFC 9111 §5.2.2.6: $text: $because", ({ text, because }) => {
    expect(why(html, { directives: ["max-age=1", text] })).toBe(because);
  });
});

describe("the fields of the forms", () => {
  const fields = ["content-type", "text/html", "etag", '"1"', "x-own", "a"];

  test("the plain form varies", () => {
    expect(plainFormFields(fields)).toEqual([...fields, "vary", "Accept-Encoding"]);
  });

  test("the coded form has a weak tag and its coding, and all else as it was", () => {
    const rest = ["x-own", "a", "vary", "Accept-Encoding", "content-encoding", "br"];
    expect(codedFormFields(fields, "br")).toEqual(["content-type", "text/html", "etag", 'W/"1"', ...rest]);
  });

  test("a weak tag stays as it is, and none is made", () => {
    expect(weakFormFields(["etag", 'W/"1"'])).toEqual(["etag", 'W/"1"', "vary", "Accept-Encoding"]);
    expect(codedFormFields([], "gzip")).toEqual(["vary", "Accept-Encoding", "content-encoding", "gzip"]);
  });

  test.each([
    { vary: null, varied: "Accept-Encoding" },
    { vary: "", varied: "Accept-Encoding" },
    { vary: " , ", varied: "Accept-Encoding" },
    { vary: "Origin", varied: "Origin, Accept-Encoding" },
    { vary: "accept-encoding", varied: "accept-encoding" },
    { vary: "Origin,ACCEPT-ENCODING", varied: "Origin,ACCEPT-ENCODING" },
    { vary: "x-accept-encoding", varied: "x-accept-encoding, Accept-Encoding" },
    { vary: "*", varied: "*" },
  ])("Vary: $vary becomes $varied", ({ vary, varied }) => {
    expect(variedBy(vary)).toBe(varied);
  });
});

describe("the form that a client holds, by its If-None-Match", () => {
  test.each([
    { sent: null, etag: '"1"', held: null },
    { sent: '"1"', etag: null, held: null },
    { sent: '"1"', etag: '"1"', held: "plain" },
    { sent: 'W/"1"', etag: '"1"', held: "weak" },
    { sent: 'W/"1", "1"', etag: '"1"', held: "plain" },
    { sent: '"2", W/"1"', etag: '"1"', held: "weak" },
    { sent: '"1"', etag: 'W/"1"', held: "weak" },
    { sent: '"2"', etag: '"1"', held: null },
    { sent: "*", etag: '"1"', held: null },
    { sent: "1", etag: "1", held: "plain" },
    { sent: "W/1", etag: "1", held: "weak" },
    { sent: "1", etag: '"1"', held: null },
  ])("$sent against $etag: $held", ({ sent, etag, held }) => {
    expect(heldForm(sent, etag)).toBe(held);
  });
});
