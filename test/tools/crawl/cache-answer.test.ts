import { expect, test } from "vitest";
import { cacheAnswer } from "../../../tools/requests/cache-answer.ts";

const CASES: readonly {
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly isHit: boolean | null;
  readonly word: string | null;
  readonly isStored?: boolean;
  readonly detail?: string;
}[] = [
  {
    name: "ours, a hit",
    fields: { "x-cache": "HIT", "cache-status": "tidemark; hit; ttl=60" },
    isHit: true,
    word: "HIT",
  },
  {
    name: "ours, stored",
    fields: { "x-cache": "MISS", "cache-status": "tidemark; fwd=uri-miss; fwd-status=200; stored" },
    isHit: false,
    word: "MISS",
    isStored: true,
  },
  {
    name: "ours, not stored",
    fields: { "x-cache": "MISS", "cache-status": 'tidemark; fwd=uri-miss; detail="no-store"' },
    isHit: false,
    word: "MISS",
    isStored: false,
    detail: "no-store",
  },
  { name: "ours, stale at once", fields: { "x-cache": "UPDATING" }, isHit: true, word: "UPDATING" },
  { name: "ours, stale for a failed origin", fields: { "x-cache": "STALE" }, isHit: true, word: "STALE" },
  { name: "ours, confirmed by the origin", fields: { "x-cache": "REVALIDATED" }, isHit: false, word: "REVALIDATED" },
  { name: "Fastly, whose edge is the last", fields: { "x-cache": "MISS, HIT" }, isHit: true, word: "HIT" },
  { name: "Fastly, whose shield has it", fields: { "x-cache": "HIT, MISS" }, isHit: false, word: "MISS" },
  { name: "CloudFront", fields: { "x-cache": "Hit from cloudfront" }, isHit: true, word: "HIT" },
  {
    name: "CloudFront, confirmed",
    fields: { "x-cache": "RefreshHit from cloudfront" },
    isHit: false,
    word: "REFRESHHIT",
  },
  { name: "CloudFront, an error", fields: { "x-cache": "Error from cloudfront" }, isHit: false, word: "ERROR" },
  {
    name: "Akamai",
    fields: { "x-cache": "TCP_MEM_HIT from a1.deploy.akamaitechnologies.com (AkamaiGHost/1) (-)" },
    isHit: true,
    word: "TCP_MEM_HIT",
  },
  { name: "Squid, confirmed", fields: { "x-cache": "TCP_REFRESH_HIT" }, isHit: false, word: "TCP_REFRESH_HIT" },
  {
    name: "a page that is remembered not to be stored",
    fields: { "x-cache": "hit-for-pass" },
    isHit: false,
    word: "HIT-FOR-PASS",
  },
  { name: "RFC 9211, a hit", fields: { "cache-status": "ExampleCache; hit; ttl=376" }, isHit: true, word: "hit" },
  {
    name: "RFC 9211, forwarded",
    fields: { "cache-status": "ExampleCache; fwd=miss; stored" },
    isHit: false,
    word: "fwd=miss",
    isStored: true,
  },
  {
    name: "RFC 9211, another's miss says nothing of storing",
    fields: { "cache-status": '"a, b"; fwd=uri-miss' },
    isHit: false,
    word: "fwd=uri-miss",
  },
  {
    name: "RFC 9211, the nearest of two",
    fields: { "cache-status": "Origin; hit, Edge; fwd=stale" },
    isHit: false,
    word: "fwd=stale",
  },
  { name: "RFC 9211, malformed", fields: { "cache-status": "hit;;" }, isHit: null, word: null },
  { name: "Cloudflare", fields: { "cf-cache-status": "HIT", age: "0" }, isHit: true, word: "HIT" },
  { name: "Cloudflare, not eligible", fields: { "cf-cache-status": "DYNAMIC" }, isHit: false, word: "DYNAMIC" },
  { name: "nginx as people configure it", fields: { "x-cache-status": "EXPIRED" }, isHit: false, word: "EXPIRED" },
  { name: "Varnish, a hit", fields: { "x-varnish": "32770 3", age: "12" }, isHit: true, word: "HIT" },
  { name: "Varnish, a miss", fields: { "x-varnish": "32770", age: "0" }, isHit: false, word: "MISS" },
  { name: "an age alone", fields: { age: "12" }, isHit: true, word: "Age" },
  { name: "an age of nothing", fields: { age: "0" }, isHit: null, word: "Age: 0" },
  { name: "nothing", fields: {}, isHit: null, word: null },
  { name: "an empty word", fields: { "x-cache": "" }, isHit: null, word: null },
];

test.each(CASES)("$name", ({ fields, isHit, word, isStored, detail }) => {
  expect(cacheAnswer((name) => fields[name] ?? null)).toEqual({
    isHit,
    word,
    isStored: isStored ?? null,
    detail: detail ?? null,
  });
});
