/**
 * What an answer says about its origin. `hit`: it came from a cache. `expired`: a cache had an entry, and fetched it
 * again. `miss`: no cache had an entry. `unknown`: it does not say.
 */
export type Provenance = "hit" | "expired" | "miss" | "unknown";

/** The owner's own field that marks hits: its name in lower case, and a part of its text. */
export interface HitField {
  readonly name: string;
  readonly text: string;
}

/**
 * Fields that mark hits with words: nginx by custom, Cloudflare, CloudFront, Fastly, Vercel, Akamai, Bunny, Squid and
 * others.
 */
const WORD_FIELDS = [
  "x-cache",
  "x-cache-status",
  "cf-cache-status",
  "x-proxy-cache",
  "x-nginx-cache",
  "x-fastcgi-cache",
  "x-vercel-cache",
  "x-cdn-cache",
  "x-edge-cache",
  "x-litespeed-cache",
  "x-cache-lookup",
  "cdn-cache",
  "akamai-cache-status",
];

const HIT = /(?:^|[^a-z])(?:hit|stale|updating|revalidated|prerender)(?![a-z])/i;
const EXPIRED = /(?:^|[^a-z])expired(?![a-z])/i;
const MISS = /(?:^|[^a-z])(?:miss|bypass|dynamic|pass|none)(?![a-z])/i;

/**
 * Reads from an answer's fields, by names in lower case, where the answer came from. Of several caches, the one that
 * had it counts.
 */
export function provenanceOf(
  fields: Readonly<Record<string, readonly string[]>>,
  own: readonly HitField[] = [],
): Provenance {
  const said = [...WORD_FIELDS.flatMap((name) => (fields[name] ?? []).map(fromWords)), ...fromOthers(fields)];
  for (const { name, text } of own) {
    const lines = fields[name];
    if (lines) said.push(lines.some((line) => line.toLowerCase().includes(text.toLowerCase())) ? "hit" : "miss");
  }
  return (["hit", "expired", "miss"] as const).find((each) => said.includes(each)) ?? "unknown";
}

function fromWords(text: string): Provenance {
  if (HIT.test(text)) return "hit";
  if (EXPIRED.test(text)) return "expired";
  return MISS.test(text) ? "miss" : "unknown";
}

function* fromOthers(fields: Readonly<Record<string, readonly string[]>>): Generator<Provenance> {
  // RFC 9211 §2: each member is a cache, with `hit` or `fwd`.
  for (const member of (fields["cache-status"] ?? []).join(",").split(",")) {
    if (/;\s*hit\s*(?:;|$|=\?1)/i.test(member)) yield "hit";
    else if (/;\s*fwd=stale/i.test(member)) yield "expired";
    else if (/;\s*fwd(?:=|;|$)/i.test(member)) yield "miss";
  }
  // After its own number, Varnish writes that of the request that stored the page. Fastly counts the hits of each of
  // its caches.
  for (const line of fields["x-varnish"] ?? []) yield /^\d+ \d+$/.test(line) ? "hit" : "miss";
  for (const line of fields["x-cache-hits"] ?? []) yield /[1-9]/.test(line) ? "hit" : "miss";
  for (const line of fields["server-timing"] ?? []) if (/cdn-?cache/i.test(line)) yield fromWords(line);
  // A new response that waited for its origin may already be a second old.
  const age = Number(fields.age?.[0] ?? "0");
  if (age >= 2) yield "hit";
}
