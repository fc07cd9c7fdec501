import { memoize } from "../fields/memoize.ts";

/** A URL in its canonical spelling, in which it is routed, keyed, purged and sent to the origin. */
export interface CanonicalUrl {
  readonly scheme: "http" | "https";
  /** As `hostOf` has it. */
  readonly host: string;
  /** Percent-encoded path: unreserved characters decoded, escapes in upper case, no dot segments. */
  readonly path: string;
  /** The query as sent, including its `?`; or empty. */
  readonly search: string;
}

export type UrlVerdict =
  | ({ readonly kind: "url" } & CanonicalUrl)
  | { readonly kind: "refused"; readonly because: string };

/**
 * Parses an absolute http(s) URL as it came over the wire. RFC 3986 §6.2.2.
 *
 * Forms that parsers read differently are refused (a backslash, a control character or NUL, a malformed escape, user
 * information, dot segments that appear only after decoding or without parameters) or kept distinct (`//`, `;`, `%2F`,
 * letter case). `%2e` segments are resolved before routing.
 */
export function canonicalUrl(text: string): UrlVerdict {
  const [, address, path, search = ""] = PLAIN.exec(text) ?? [];
  const url = address === undefined ? null : parsedAddress(address);
  return url?.kind === "url" ? { ...url, path: path!, search } : parsedUrl(text);
}

/**
 * Scheme, authority, path and query of a URL that has nothing to decode, escape or refuse behind its authority, unless a
 * segment of its path begins with a dot. Most URLs are such, and to parse one takes twice as long.
 */
const PLAIN = /^(?!.*\/\.)(https?:\/\/[\w.:-]+)(\/[!$&-;=@-Z_a-z~]*)(\?[!$%&(-;=?-Z_a-z~]+)?$/;

const parsedAddress = memoize(parsedUrl);

function parsedUrl(text: string): UrlVerdict {
  const authorityEnd = text.indexOf("/", text.indexOf("//") + 2);
  const target = authorityEnd === -1 ? "/" : text.slice(authorityEnd);
  const pathAsSent = target.replace(/[?#].*/s, "");
  if (pathAsSent.includes("\\")) return refused("the path has a backslash; write %5C for one");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u0020\u007f]/.test(target)) return refused("the URL has a space or a control character");
  if (/%(?:0[0-9a-f]|1[0-9a-f]|7f)/i.test(pathAsSent)) return refused("the path has an encoded control character");
  if (/%(?![0-9a-f]{2})/i.test(pathAsSent))
    return refused("the path has a % without two hexadecimal digits; write %25 for a percent sign");
  const url = URL.parse(text);
  if (!url) return refused("it is not a URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") return refused("its scheme is not http or https");
  if (url.username !== "" || url.password !== "") return refused("it has a user or password before the host");
  const path = normalEscapes(url.pathname);
  if (hasHiddenDots(path)) return refused("the path has dot segments between escaped slashes");
  return {
    kind: "url",
    scheme: url.protocol === "https:" ? "https" : "http",
    host: hostOf(url),
    path,
    search: url.search,
  };
}

/** The host without the point at the end of a name in full, and with the port unless that is the default. RFC 3986 §3.2.2. */
export function hostOf({ host }: URL): string {
  return host.replace(/\b\.(?=:|$)/, "");
}

/**
 * A host that a client or an owner names, in the form that keys have; `null` for what is none. The default ports of both
 * schemes are no part of it.
 */
export function canonicalHost(text: string): string | null {
  const url = URL.parse(`http://${text.replace(/:(?:80|443)$/, "")}`);
  return url && hostOf(url);
}

function refused(because: string): UrlVerdict {
  return { kind: "refused", because };
}

/** Decodes escapes of unreserved characters and writes the others in upper case. RFC 3986 §6.2.2.1, §6.2.2.2. */
export function normalEscapes(path: string): string {
  if (!path.includes("%")) return path;
  return path.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : encoded.toUpperCase();
  });
}

/** The escapes of what some clients escape in a path and others do not: `!$&'()*+,:;=@[]|`. RFC 3986 §3.3. */
export const ESCAPED_BY_SOME = /%(?:2[146-9A-C]|3[ABD]|40|5[BD]|7C)/gi;

/** A canonical path with these characters as they are. Routes are held against it, so that no spelling evades them. */
export function routeSpelling(path: string): string {
  return path.includes("%") ? path.replace(ESCAPED_BY_SOME, decodeURIComponent) : path;
}

/** Whether the path would climb out of its route at an origin that decodes slashes first, or reads `..;x` as `..`. */
function hasHiddenDots(path: string): boolean {
  if (!path.includes("..")) return false;
  return path.split(/\/|%2F|%5C/).some((segment) => segment.split(/;|%3B/, 1)[0] === "..");
}
