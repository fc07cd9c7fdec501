import { matchesAnyName } from "../key/name-pattern.ts";

/** A request's cookies from the point of view of a shared cache. */
export interface RequestCookies {
  /** True if any cookie may distinguish visitors: one that is not on the ignore list. */
  readonly identifying: boolean;
  /** The `Cookie` field without ignored cookies and without the edge's own; `null` if nothing is left. */
  readonly forwarded: string | null;
}

/** Cookies of well-known analytics, which no origin reads. A trailing `*` stands for any ending. */
export const ANALYTICS_COOKIES: readonly string[] = [
  "_ga",
  "_ga_*",
  "_gid",
  "_gat*",
  "_gcl_*",
  "__utm*",
  "_fbp",
  "_fbc",
  "_hj*",
  "_pk_*",
  "_clck",
  "_clsk",
  "_uet*",
  "ajs_*",
  "amplitude_*",
  "mp_*",
  "__hs*",
  "hubspotutk",
];

/** Sorts the cookies of a request by the names to ignore and the edge's own names. RFC 6265 §4.2. */
export function readCookies(field: string | null, ignored: readonly string[], ours: readonly string[]): RequestCookies {
  if (field === null) return { identifying: false, forwarded: null };
  const kept = field.split(";").flatMap((pair) => {
    const text = pair.trim();
    // Two lines of the field arrive joined with a comma.
    const parts = text.split(",").filter((part) => part.trim() !== "");
    const names = parts.map((part) => part.split("=", 1)[0]!.trim());
    return names.every((name) => matchesAnyName(name, [...ignored, ...ours])) ? [] : [text];
  });
  return { identifying: kept.length > 0, forwarded: kept.length > 0 ? kept.join("; ") : null };
}

/** The value of one cookie; `null` if the request does not carry it. */
export function cookieValue(field: string | null, name: string): string | null {
  for (const pair of field?.split(";") ?? []) {
    const equals = pair.indexOf("=");
    if (equals !== -1 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return null;
}
