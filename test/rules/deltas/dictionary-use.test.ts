import { describe, expect, test } from "vitest";
import {
  type DictionaryCandidate,
  dictionaryUse,
  mayBecomeDictionary,
  type NoDelta,
} from "../../../worker/rules/deltas/dictionary-use.ts";

const FIELDS = {
  "content-type": "text/javascript",
  "cache-control": "max-age=60",
  date: "Sat, 01 Nov 2025 12:00:00 GMT",
};

function candidate(
  fields: Readonly<Record<string, string | undefined>> = {},
  change: Partial<DictionaryCandidate> = {},
): DictionaryCandidate {
  const all: Readonly<Record<string, string | undefined>> = { ...FIELDS, ...fields };
  const field = (name: string) => all[name] ?? null;
  return {
    status: 200,
    field,
    directives: [field("cache-control") ?? [], field("cdn-cache-control") ?? []].flat(),
    bodyBytes: 5000,
    scheme: "https",
    host: "www.example.com",
    pathAndQuery: "/app.4f3a9c1d.js",
    selectedBy: [],
    browserTtlSeconds: null,
    ...change,
  };
}

const RULES = { match: null, keepMs: 1000 };
const USE = { match: "/app.*.js", family: "https://www.example.com /app.*.js" };
const HTML = { "content-type": "text/html; charset=utf-8" };

describe("a response may be a dictionary", () => {
  test.each<[string, DictionaryCandidate]>([
    ["with a lifetime", candidate()],
    ["whose length is not known yet", candidate({}, { bodyBytes: null })],
    ["of the smallest size", candidate({}, { bodyBytes: 1024 })],
    ["of the largest size", candidate({}, { bodyBytes: 10 * 1024 * 1024 })],
    ["that varies by the coding", candidate({ vary: "accept-encoding" }, { selectedBy: ["accept-encoding"] })],
    ["that varies by the dictionary", candidate({ vary: "Accept-Encoding, Available-Dictionary" })],
    ["that expires", candidate({ "cache-control": undefined, expires: "Sat, 01 Nov 2025 12:00:01 GMT" })],
    ["that may be used stale", candidate({ "cache-control": "max-age=0, stale-while-revalidate=60" })],
    ["with a lifetime from the owner", candidate({ "cache-control": "max-age=0" }, { browserTtlSeconds: 1 })],
    ["as JSON", candidate({ "content-type": "application/problem+json" })],
    ["on localhost", candidate({}, { scheme: "http", host: "localhost:8080" })],
  ])("%s", (_, response) => {
    const use = dictionaryUse(response, RULES);
    expect(use).toEqual(
      response.host === "www.example.com" ? USE : { ...USE, family: "http://localhost:8080 /app.*.js" },
    );
  });

  test("as a page, for its own path", () => {
    expect(dictionaryUse(candidate(HTML, { pathAndQuery: "/a.4f3a9c1d.html" }), RULES)).toEqual({
      match: "/a.4f3a9c1d.html",
      family: "https://www.example.com /a.4f3a9c1d.html",
    });
  });

  test("for what its route says", () => {
    expect(dictionaryUse(candidate(), { ...RULES, match: "/app/*/main.js" })).toEqual({
      match: "/app/*/main.js",
      family: "https://www.example.com /app/*/main.js",
    });
  });
});

describe("a response is no dictionary", () => {
  test.each<[string, NoDelta, DictionaryCandidate]>([
    ["with another status", "status", candidate({}, { status: 404 })],
    ["that is encoded", "encoded", candidate({ "content-encoding": "br" })],
    ["with no-transform", "no-transform", candidate({ "cache-control": "max-age=60, no-transform" })],
    ["with no-transform for CDNs", "no-transform", candidate({ "cdn-cache-control": "no-transform" })],
    ["with a digest of its bytes", "digest", candidate({ "repr-digest": "sha-256=:AAAA:" })],
    ["that is a picture", "type", candidate({ "content-type": "image/png" })],
    ["that is too small", "size", candidate({}, { bodyBytes: 1023 })],
    ["that is too large", "size", candidate({}, { bodyBytes: 10 * 1024 * 1024 + 1 })],
    ["with a query", "keyed", candidate({}, { pathAndQuery: "/app.4f3a9c1d.js?v=1" })],
    ["that a cookie selects", "keyed", candidate({}, { selectedBy: ["cookie"] })],
    ["that a choice selects", "keyed", candidate({}, { selectedBy: ["accept-encoding", "accept-language"] })],
    ["that varies by cookies", "keyed", candidate({ vary: "Accept-Encoding, Cookie" })],
    ["that varies by anything else", "keyed", candidate({ vary: "Origin" })],
    ["that is private for browsers", "private", candidate({ "cache-control": "private, max-age=60" })],
    ["with a field for one visitor", "private", candidate({ "cache-control": 'private="x-name", max-age=60' })],
    ["over http", "insecure", candidate({}, { scheme: "http" })],
    [
      "over http on a host that looks local",
      "insecure",
      candidate({}, { scheme: "http", host: "localhost.example.com" }),
    ],
    ["that browsers may not store", "no-browser-lifetime", candidate({ "cache-control": "no-store" })],
    ["that browsers have to validate", "no-browser-lifetime", candidate({ "cache-control": "no-cache, max-age=60" })],
    ["without a lifetime", "no-browser-lifetime", candidate({ "cache-control": "s-maxage=60" })],
    ["of no lifetime", "no-browser-lifetime", candidate({ "cache-control": "max-age=0" })],
    [
      "that may not be used stale",
      "no-browser-lifetime",
      candidate({ "cache-control": "must-revalidate, stale-while-revalidate=60" }),
    ],
    ["that has expired", "no-browser-lifetime", candidate({ "cache-control": undefined, expires: FIELDS.date })],
    ["that the owner keeps from browsers", "no-browser-lifetime", candidate({}, { browserTtlSeconds: 0 })],
    ["of which the origin says it itself", "own-dictionary", candidate({ "use-as-dictionary": 'match="/*"' })],
    ["whose name is a hash", "hash-alone", candidate({}, { pathAndQuery: "/4f3a9c1d.js" })],
  ])("%s", (_, because, response) => {
    expect(dictionaryUse(response, RULES)).toBe(because);
  });
});

describe("mayBecomeDictionary", () => {
  const page = Buffer.from("A page for everybody.");
  test("does not include answers to credentials", () => {
    expect(mayBecomeDictionary({ authorized: false }, page)).toBe(true);
    expect(mayBecomeDictionary({ authorized: true }, page)).toBe(false);
  });

  test("does not include bytes that a decoder would mistake for a trained dictionary", () => {
    const trained = Buffer.concat([Buffer.from("37a430ec", "hex"), page]);
    expect(mayBecomeDictionary({ authorized: false }, trained)).toBe(false);
    expect(mayBecomeDictionary({ authorized: false }, trained.subarray(1))).toBe(true);
  });
});
