import type { Fields } from "../fields/fields.ts";
import { firstMember } from "../fields/list-members.ts";
import { memoize } from "../fields/memoize.ts";
import { TAG_FIELDS } from "../storing/tags.ts";
import { hopByHopFields } from "./hop-by-hop.ts";

/**
 * Fields of the origin's answer that clients do not see, because the edge writes or reads them itself, or because they name
 * ways to the origin that lead past the edge. RFC 7838 §3.
 */
const REPLACED: ReadonlySet<string> = new Set(["x-cache", "alt-svc", ...TAG_FIELDS]);

/** Those, and the hop-by-hop fields of an answer with this `Connection`. */
const keptFromClients = memoize(
  (connection: string): ReadonlySet<string> => new Set([...hopByHopFields(connection), ...REPLACED]),
);

/** Fields that may name the origin. */
const LOCATIONS = ["location", "content-location"];

/** What is before the URL of a `Refresh`, and the URL. WHATWG HTML, "shared declarative refresh steps". */
const REFRESH = /^([\d.\s;,]*(?:url\s*=\s*)?["']?)([^"']+)/i;

/**
 * The fields of the origin's answer as clients see them: without hop-by-hop and tag fields, with public locations, a date
 * and one line of Strict-Transport-Security. All other fields stay as the origin sent them. RFC 9110 §7.6. `hidden` are the
 * names of fields that are for this cache alone; `receivedAt` is in epoch milliseconds.
 */
export function toClientFields(
  sent: Fields,
  address: PublicAddress,
  hidden: readonly string[],
  receivedAt: number,
): Fields {
  const kept = keptFromClients(sent.get("connection") ?? "");
  const fields = sent.filter((name) => !kept.has(name) && !hidden.includes(name));
  if (sent.has("transfer-encoding")) fields.delete("content-length"); // RFC 9112 §6.3: chunks win
  if (!fields.has("date")) fields.set("date", new Date(receivedAt).toUTCString()); // RFC 9110 §6.6.1
  const security = fields.get("strict-transport-security");
  // RFC 6797 §6.1, §8.1: the first line counts, and a joined one is ignored
  if (security !== null) fields.set("strict-transport-security", firstMember(security).trim());
  for (const name of LOCATIONS) {
    const value = fields.get(name);
    if (value !== null) fields.set(name, publicLocation(value, address));
  }
  const refresh = fields.get("refresh");
  if (refresh !== null)
    fields.set(
      "refresh",
      refresh.replace(REFRESH, (_, delay: string, url: string) => delay + publicLocation(url, address)),
    );
  return fields;
}

/** The origin's address, and the public address that replaces it. Both are without a trailing slash. */
export interface PublicAddress {
  readonly originUrl: string;
  readonly publicUrl: string;
  /** The URL that the client has requested. */
  readonly requestedUrl: string;
}

/** What names the host, with a scheme or without one. RFC 3986 §4.2, §4.3. */
const HOST = /^\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}[^/\\?#]*/i;

/**
 * `Location`, `Content-Location` or the URL in `Refresh` for clients. If it names the hidden origin, under either scheme,
 * the public address replaces the origin's, and the rest stays as it was sent: a parser would take each byte of UTF-8 for
 * a character. Only an origin that wants this page over https keeps that scheme, because its client would else come back
 * for ever. Any other value is passed on unchanged. RFC 9110 §10.2.2.
 */
export function publicLocation(location: string, address: PublicAddress): string {
  const url = URL.parse(location, `${address.originUrl}/`);
  const origin = URL.parse(address.originUrl);
  if (!url || !origin || url.hostname !== origin.hostname) return location;
  if (url.port !== origin.port && url.port !== "") return location; // another service on the same machine
  if (!/^[a-z][a-z0-9+.-]*:|^[/\\]{2}/i.test(location.trim())) return location; // relative, without a host
  const [named] = HOST.exec(location) ?? [];
  const shown = address.publicUrl + (named ? location.slice(named.length) : url.pathname + url.search + url.hash);
  const wantsHttps = url.protocol === "https:" && origin.protocol === "http:" && shown === address.requestedUrl;
  return wantsHttps ? shown.replace(/^http:/, "https:") : shown;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The target of a redirect, without its fragment; `null` if the response is not a redirect. RFC 9110 §15.4, §10.2.2.
 */
export function redirectTarget(status: number, location: string | null, url: string): string | null {
  if (location === null || !REDIRECTS.has(status)) return null;
  return URL.parse(location, url)?.href.split("#", 1)[0] ?? null;
}
