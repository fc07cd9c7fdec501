import { matchesAnyName } from "../key/name-pattern.ts";

/** A request's cookies from the point of view of a shared cache. */
export interface RequestCookies {
  /** True if any cookie may distinguish visitors: one that is not on the ignore list. */
  readonly identifying: boolean;
  /** The `Cookie` field without ignored cookies and without the edge's own; `null` if nothing is left. */
  readonly forwarded: string | null;
}

/**
 * Cookies that no origin reads: of well-known analytics, and of Cloudflare, which stands in front of a worker and tells
 * bots by them. A trailing `*` stands for any ending: none may begin like a session of an application, as Rails
 * (`_<app>_session`) names one. So Mixpanel's `mp_<token>_mixpanel` is not here.
 */
export const UNREAD_COOKIES: readonly string[] = [
  "_ga",
  "_ga_*",
  "_gid",
  "_gat",
  "_gat_gtag_*",
  "_gat_UA-*",
  "_gcl_ag",
  "_gcl_au",
  "_gcl_aw",
  "_gcl_dc",
  "_gcl_gb",
  "_gcl_gs",
  "__utm*",
  "_fbp",
  "_fbc",
  "_hjid",
  "_hjA*",
  "_hjC*",
  "_hjF*",
  "_hjH*",
  "_hjI*",
  "_hjS*",
  "_pk_id.*",
  "_pk_ses.*",
  "_pk_ref.*",
  "_pk_cvar.*",
  "_pk_hsr.*",
  "_clck",
  "_clsk",
  "_uetsid",
  "_uetvid",
  "_uetmsclkid",
  "ajs_anonymous_id",
  "ajs_user_id",
  "ajs_group_id",
  "amplitude_id_*",
  "__hstc",
  "__hssc",
  "__hssrc",
  "__hs_*",
  "hubspotutk",
  "__cf_bm",
  "_cfuvid",
  "__cfruid",
  "cf_clearance",
];

/** Sorts the cookies of a request by the names to ignore and the edge's own names. RFC 6265 §4.2. */
export function readCookies(field: string | null, ignored: readonly string[], ours: readonly string[]): RequestCookies {
  if (field === null) return { identifying: false, forwarded: null };
  const unread = [...ignored, ...ours];
  // A comma may be in a value, so the origin gets what is between two semicolons whole, or nothing of it.
  const kept = field.split(";").flatMap((text) => {
    const isUnread = cookiesIn(text).every(([name, value]) => name + value === "" || matchesAnyName(name, unread));
    return isUnread ? [] : [text.trim()];
  });
  return { identifying: kept.length > 0, forwarded: kept.join("; ") || null };
}

/** All cookies of a request, those with an empty name included. Two lines of the field arrive joined with a comma. */
export function cookiesIn(field: string | null): readonly (readonly [name: string, value: string])[] {
  return (field ?? "").split(/[;,]/).map((pair) => {
    const equals = pair.indexOf("=");
    return equals === -1 ? ([pair.trim(), ""] as const) : [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  });
}

/** The value of one cookie; `null` if the request does not carry it. */
export function cookieValue(field: string | null, name: string): string | null {
  return cookiesIn(field).find(([other]) => other === name)?.[1] ?? null;
}
