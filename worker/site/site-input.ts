/** A duration: a number with its unit, like `"250ms"`, `"30s"`, `"10m"`, `"24h"`, `"7d"`, `"2w"`. */
export type Duration = string;

/** A size: a number with its unit, like `"512KiB"`, `"8MiB"`, `"1GiB"`, or a number of bytes. */
export type Size = number | string;

/** A worker that takes the place of the origin. */
export interface ServiceOrigin extends CapacityInput {
  /**
   * The name of its service binding in the wrangler config, like `APP`. It gets the visitor's `request.cf` with requests that
   * are not looked up, like those of a `pass` route and POST, and an empty one if the answer may be stored for all.
   */
  readonly service: string;
}

/** An origin with an address and further settings. */
export interface AddressOrigin extends CapacityInput {
  /**
   * Its address: scheme, host and port, without a path. For `tidemark serve` it may be a list: if a connection to one
   * fails, the next is tried. All get the name of the first in `Host`.
   */
  readonly url: string | readonly string[];
}

/** How many requests the origin gets at a time. */
export interface CapacityInput {
  /**
   * The most requests that the origin has at a time, each from its first byte to the last byte of the answer. `tidemark
   * serve` counts for the whole machine, Workers count for each isolate. Further requests wait; the client that has
   * used the origin least lately goes first. Default: no limit.
   */
  readonly concurrency?: number | undefined;
  /**
   * The most upgraded connections (WebSocket) and streams of events (`text/event-stream`) that the origin has at a
   * time. They do not count for `concurrency`, because they last. A request that finds no place within a second gets
   * 503. It needs `concurrency`. On Workers only streams of events count, because the end of an upgraded connection
   * cannot be seen there. Default: no limit.
   */
  readonly streams?: number | undefined;
  /**
   * How long requests wait while the origin has its maximum, and how many. It needs `concurrency`. Default: as each
   * setting says.
   */
  readonly queue?: QueueInput | undefined;
}

/** The requests that wait for their turn at the origin. */
export interface QueueInput {
  /** The longest wait, in milliseconds: up to 60000. Default 5000. */
  readonly maxMs?: number | undefined;
  /**
   * The most requests that wait at a time for the site, for a route with a share, or for a stream; `tidemark serve` divides them
   * among its workers, one each at least. While the origin is slow, no more wait than have their turn within `maxMs`.
   * Default 1000.
   */
  readonly maxWaiting?: number | undefined;
}

/** The settings of a site. Only `origin` is required. */
export interface SiteInput {
  /**
   * The origin's address: scheme, host and port, without a path; as a text, or as `url` beside the limits for requests
   * to it. Or, on Workers, the name of a service binding: a worker that gets each request under the public address, as
   * if the edge were not there. The variable `TIDEMARK_ORIGIN`, an address, takes precedence over both.
   */
  readonly origin: string | AddressOrigin | ServiceOrigin;
  /**
   * The public host names, with a port if it is not the scheme's default; requests for others get 421. Required for
   * deployment, here or as `TIDEMARK_HOSTS`, which takes precedence; `tidemark dev` serves the machine's own names, too.
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * The public address to key by and to forward, scheme and host, if the edge itself is reached under another one. Default:
   * none.
   */
  readonly publicUrl?: string | undefined;
  /**
   * The rules by path, in order; the first match applies. For paths without a match, the origin's fields decide.
   * Default: none.
   */
  readonly routes?: readonly RouteInput[] | undefined;
  /** Which cookies count. Default: all but those of well-known analytics. */
  readonly cookies?: CookiesInput | undefined;
  /**
   * Which requests bypass the cache, on all routes without a rule of their own. Default: those with a session, where
   * only `ttl` or `defaultTtl` makes a page storable.
   */
  readonly bypass?: BypassInput | undefined;
  /** Which requests store pages, on all routes without a rule of their own. Default: a HEAD fetches the page. */
  readonly store?: SiteStoreInput | undefined;
  /**
   * How to treat request fields that are not in the key, on all routes, in addition to what each route says. Default:
   * none is dropped or trusted.
   */
  readonly fields?: FieldsInput | undefined;
  /**
   * If only an unknown field keeps an answer from being stored, ask the origin once more without the field, after the
   * answer, and store that. A value that has changed nothing three times is then left out. Default true.
   */
  readonly secondLook?: boolean | undefined;
  /** How stale responses may be used, on all routes without a rule of their own. Default: as the origin says (RFC 5861). */
  readonly stale?: StaleInput | undefined;
  /**
   * Guess a lifetime from `Last-Modified` if the origin gives none (RFC 9111 §4.2.2): this fraction of the time since
   * then, for 200, 203, 204, 300, 301, 308, 404, 405, 410, 414 and 501, and for what is `public`. Default: nothing is
   * guessed.
   */
  readonly heuristic?: HeuristicInput | undefined;
  /**
   * A field of the site's own for directives to this cache alone, like `CDN-Cache-Control`, over which it takes
   * precedence (RFC 9213 §2.2). It is not passed on to clients. Default: none.
   */
  readonly targetedField?: string | undefined;
  /**
   * The addresses of the proxies in front of this edge, each alone or as a network like `"203.0.113.0/24"` or
   * `"2001:db8::/32"`. The edge trusts them for `countryField`, and `tidemark serve` also for `X-Forwarded-For`,
   * `X-Forwarded-Proto` and the PROXY protocol. Default: none.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * The field in which a trusted proxy gives the visitor's country, like `CloudFront-Viewer-Country`, for routes with
   * `key.country`. The proxy must replace what visitors send in it. From other addresses the field is ignored, and the
   * platform gives the country. It never reaches the origin. It needs `trustedProxies`. Default: none.
   */
  readonly countryField?: string | undefined;
  /**
   * The vendors whose purge calls the edge accepts under `/_tidemark/doors/VENDOR/`, each for one zone, service, site
   * or project. Their tokens are in `TIDEMARK_TOKENS` with scopes like `door:cloudflare:ZONE`. Default: none.
   */
  readonly doors?: DoorsInput | undefined;
  /** What the origin learns about the visitor's request besides `X-Forwarded-*`. Default: nothing. */
  readonly forward?: ForwardInput | undefined;
  /** Extra fields on every request to the origin except TRACE, such as a shared secret. Default: none. */
  readonly originFields?: Readonly<Record<string, string>> | undefined;
  /** Whether browsers get the dashboard at `/_tidemark/`. Default true. */
  readonly dashboard?: boolean | undefined;
  /**
   * Send stored pages that the origin has sent plain as Brotli, Zstandard or gzip. Only for `tidemark serve`: Workers
   * compress by themselves. `{}` for all defaults. Default: what the origin has sent.
   */
  readonly compression?: CompressionInput | undefined;
  /** How much the edge takes, stores and waits for. Default: as each limit says. */
  readonly limits?: LimitsInput | undefined;
  /** How soon purges reach the edge, and what they cost. Default: as each setting says. */
  readonly purge?: SitePurgeInput | undefined;
}

/** Which cookies count: `cookies` of the site. */
export interface CookiesInput {
  /**
   * Cookies that the origin does not read; a trailing `*` matches any ending. A list of your own replaces the default
   * one. Default: those of well-known analytics: `_ga`, `_ga_*`, `_gid`, `_gat`, `_gat_gtag_*`, `_gat_UA-*`, `_gcl_ag`,
   * `_gcl_au`, `_gcl_aw`, `_gcl_dc`, `_gcl_gb`, `_gcl_gs`, `__utm*`, `_fbp`, `_fbc`, `_hjid`, `_hjA*`, `_hjC*`,
   * `_hjF*`, `_hjH*`, `_hjI*`, `_hjS*`, `_pk_id.*`, `_pk_ses.*`, `_pk_ref.*`, `_pk_cvar.*`,
   * `_pk_hsr.*`, `_clck`, `_clsk`, `_uetsid`, `_uetvid`, `_uetmsclkid`, `ajs_anonymous_id`, `ajs_user_id`,
   * `ajs_group_id`, `amplitude_id_*`, `__hstc`, `__hssc`, `__hssrc`, `__hs_*`, `hubspotutk`; and those by
   * which Cloudflare tells bots: `__cf_bm`, `_cfuvid`, `__cfruid`, `cf_clearance`.
   */
  readonly ignore?: readonly string[] | undefined;
}

/** Which requests store pages: `store` of the site. */
export interface SiteStoreInput {
  /**
   * Whether a HEAD that finds nothing stored fetches the page by GET, stores it, and answers with its head, on all
   * routes without a rule of their own. For a page whose body is not stored, HEAD is passed on for the next hour.
   * Default true.
   */
  readonly onHead?: boolean | undefined;
}

/** How a lifetime is guessed: `heuristic` of the site. */
export interface HeuristicInput {
  /** The fraction of the time since `Last-Modified`: above 0, up to 1. Default 0.1. */
  readonly fraction?: number | undefined;
  /** The longest guess. Default `"24h"`. */
  readonly maxTtl?: Duration | undefined;
}

/** What the origin learns about the visitor's request besides `X-Forwarded-*`. */
export interface ForwardInput {
  /**
   * `"visitor"`: `Host` is the public host of the key, one of `hosts`, for an origin with several virtual hosts. Over
   * https, its certificate must be for that host. Only for `tidemark serve`. Default `"origin"`: the name in the
   * origin's URL.
   */
  readonly host?: "visitor" | "origin" | undefined;
  /** Whether `X-Real-IP` gives the client's address. Default false. */
  readonly realIp?: boolean | undefined;
  /** Whether `Forwarded` gives address, host and scheme (RFC 7239). Default false. */
  readonly forwarded?: boolean | undefined;
}

/** How soon purges reach the edge, and what they cost: `purge` of the site. */
export interface SitePurgeInput {
  /**
   * How long a PoP may answer from its knowledge of purges, in milliseconds: 100 to 60000. Default 1000.
   * A longer lease means fewer reads of the purge log, and purges that settle later.
   */
  readonly leaseMs?: number | undefined;
  /**
   * How much the clocks in one PoP may differ, and how far one clock may step back, in milliseconds, up to 60000.
   * Default 250.
   */
  readonly skewMs?: number | undefined;
  /**
   * For how long after a soft purge a response that has no `stale-while-revalidate` of its own may be served stale
   * while it is fetched again, in milliseconds up to 30 days, and never beyond its lifetime. Default 0: it is validated
   * first.
   */
  readonly softForMs?: number | undefined;
  /**
   * How old the edge's knowledge of purges may be when it answers with a response that the origin calls
   * `immutable`, up to an hour: a purge may reach such responses that late. Applies to all routes without their
   * own value. See a route's `purge.maxViewAge` for the price. Default `"0s"`: within a lease, as for all other
   * responses.
   */
  readonly maxViewAgeImmutable?: Duration | undefined;
  /**
   * Whether isolates that have traffic keep a connection to the purge log, on Workers. The log then sends each purge at
   * once, and a receipt's `settled()` resolves as soon as all of them have confirmed it. While the log cannot be
   * reached for more than a minute, the origin is asked for each hot page up to twenty times a second, instead of once
   * per lease. Default false.
   */
  readonly push?: boolean | undefined;
  /**
   * For how long after a request an isolate keeps its knowledge of purges up to date, in milliseconds, up to 20000,
   * so that the next request need not wait for the purge log. Without `push` it costs about 1.4 reads of the log a
   * second. Default 20000 with `push`, otherwise 0.
   */
  readonly keepViewMs?: number | undefined;
}

/** The rules for the paths that a pattern matches. */
export interface RouteInput {
  /**
   * The paths of the route, in the syntax of URLPattern's pathnames: `/admin/*`, `/plog/:slug`. It begins with `/`, and
   * holds for a path whichever of ``!$&'()*+,:;=@[]|`` a client sends as escapes: it has these as they are.
   */
  readonly match: string;
  /** Send every request to the origin unchanged; look up and store nothing. Default false. */
  readonly pass?: boolean | undefined;
  /**
   * `"stream"` sends bodies of requests to the origin as they come, for answers that begin before the request has
   * ended. Default: `tidemark serve` reads them first, up to `limits.heldBodyBytes`; Workers stream.
   */
  readonly body?: "stream" | undefined;
  /**
   * The most requests of this route that the origin has at a time, as a part of the site's `origin.concurrency`, which
   * must be set. Slow pages then leave room for others. Default: as many as the site's.
   */
  readonly concurrency?: number | undefined;
  /** What selects among stored responses beside the URL. Default: nothing. */
  readonly key?: KeyInput | undefined;
  /** Which requests bypass the cache on this route. Default of each list: the site's. */
  readonly bypass?: BypassInput | undefined;
  /**
   * How to treat request fields that are not in the key, on this route, in addition to what the site says. Default:
   * nothing more.
   */
  readonly fields?: FieldsInput | undefined;
  /** The same as `secondLook` of the site, for this route. Default: as the site says. */
  readonly secondLook?: boolean | undefined;
  /** Which requests store pages on this route. Default: as for the site. */
  readonly store?: RouteStoreInput | undefined;
  /**
   * Remove `Set-Cookie` from every answer to GET and HEAD, so that it does not keep answers from being stored. Use it
   * only for pages that are the same for all visitors. It is logged at each start. Default false.
   */
  readonly stripSetCookie?: boolean | undefined;
  /**
   * Replaces the lifetime of responses that the origin allows to be stored. It does not store what is `private`, `no-store`
   * or comes with `Set-Cookie`. Default: as the origin says (RFC 9111 §4.2.1).
   */
  readonly ttl?: Duration | undefined;
  /**
   * The lifetime if the origin gives none: one for 200, 203, 204, 300, 301 and 308, or one per status. Errors get one
   * only if their status is named. Like `ttl` it stores nothing that the origin forbids to store. Default: none.
   */
  readonly defaultTtl?: Duration | Readonly<Record<string, Duration>> | undefined;
  /**
   * How long browsers may keep stored responses, from the moment of the answer, in whole seconds. A purge cannot reach
   * them there. An origin's `no-cache` or `no-store` stays in force, and an error's own lifetime if that is shorter.
   * Default: as the origin says.
   */
  readonly browserTtl?: Duration | undefined;
  /**
   * Which directives of a visitor's `Cache-Control` are obeyed. `"harmless"`: `no-store`, `only-if-cached`,
   * `max-stale`, `stale-if-error`. `"all"`: also `no-cache`, `max-age`, `min-fresh`, and `Pragma: no-cache`, by which
   * any visitor can send requests to the origin. Default `"harmless"`.
   */
  readonly requestDirectives?: "harmless" | "all" | undefined;
  /** How stale responses may be used on this route. Default: the site's rules. */
  readonly stale?: StaleInput | undefined;
  /** How late purges may reach this route. Default: within a lease. */
  readonly purge?: RoutePurgeInput | undefined;
  /**
   * Tags for every response of the route that is stored from then on; `{name}` stands for a parameter of `match`, with
   * printable ASCII as it is and all else as escapes: `Foo_(film)`, `a%20b`, `%C3%A9`, and `%2C` for a comma. Default none.
   */
  readonly tags?: readonly string[] | undefined;
  /**
   * By `tidemark serve`, and not on Workers: whether visitors who hold an older version of a page or a file get what has
   * changed since (RFC 9842). It needs `compression`, and pages that are keyed by nothing but their path. The origin is asked
   * for pages without a coding, because the server makes the codings; for those that were not stored lately, in the
   * codings that the visitor accepts. `true` for all defaults. Default: they get all of it.
   */
  readonly deltas?: true | DeltasInput | undefined;
}

/** How visitors get what has changed since the version that they hold: `deltas` of a route. */
export interface DeltasInput {
  /**
   * The URLs for which each page of the route is a dictionary, as a URL pattern of a path without regular expressions, like
   * `"/app/:version/main.js"`. Default: the page's own path, with a `*` in place of a hash in the name of a file.
   */
  readonly match?: string | undefined;
  /** How long a version that was replaced or purged stays a dictionary, from when it was last sent. At most 90 days. Default `"24h"`. */
  readonly keep?: Duration | undefined;
}

/** What selects among stored responses beside the URL: `key` of a route. */
export interface KeyInput {
  /**
   * Request fields that go to the origin as the visitor sent them, even those that the edge would drop, and that
   * select among stored responses as if `Vary` named them. Default none.
   */
  readonly fields?: readonly string[] | undefined;
  /**
   * Cookies whose values select: by name, up to 32 values each. Any other value counts as none. Where the answer
   * may be stored, the origin gets these cookies with these values and no other cookies at all, not even those of
   * a session: name those in `bypass.cookies`, or leave them to `bypass.sessions`, which needs `ttl` or
   * `defaultTtl`. Default none.
   */
  readonly cookies?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * The site's languages, up to 32. The one that suits the visitor best by `Accept-Language` (RFC 4647 §3.4)
   * selects, and the origin gets it as `Accept-Language`. The first is for visitors whom none suits. Default: the
   * field goes to the origin as it came.
   */
  readonly languages?: readonly string[] | undefined;
  /**
   * Whether the visitor's country selects, as the platform or the site's `countryField` gives it: ISO 3166-1 in
   * capitals, or `XX` if it is unknown. The origin gets it as `X-Country`. Default false.
   */
  readonly country?: boolean | undefined;
  /**
   * Whether the class of the visitor's device selects, `mobile` or `desktop`: by `Sec-CH-UA-Mobile`, else by
   * `User-Agent`, where `Mobi` means a phone, except in that of a tablet. The origin gets it as `X-Device`, and with it
   * a `User-Agent` and `Sec-CH-UA-Mobile` that are the same for the whole class. Default false.
   */
  readonly device?: boolean | undefined;
  /**
   * How the query is changed before it is keyed and sent to the origin. A trailing `*` of a name matches any ending.
   * Default: trackers are dropped.
   */
  readonly query?: KeyQueryInput | undefined;
}

/** How the query of a URL is changed before it is keyed and sent to the origin: `key.query` of a route. */
export interface KeyQueryInput {
  /**
   * Parameters to drop. A list of your own replaces the default one. Default: those of well-known trackers: `utm_*`,
   * `gclid`, `gbraid`, `wbraid`, `dclid`, `fbclid`, `msclkid`, `twclid`, `ttclid`, `igshid`, `mc_cid`, `mc_eid`, `_ga`,
   * `_gl`, `yclid`, `li_fat_id`, `CMCD`.
   */
  readonly ignore?: readonly string[] | undefined;
  /** If given, all other parameters are dropped. Default: no such list. */
  readonly only?: readonly string[] | undefined;
  /** Parameters whose values are lowercased. Default none. */
  readonly lowercase?: readonly string[] | undefined;
  /** Parameters whose values are trimmed of white space. Default none. */
  readonly trim?: readonly string[] | undefined;
  /** Sort the parameters by name. Default false: the same parameters in another order are another page. */
  readonly sort?: boolean | undefined;
}

/** Which requests store pages: `store` of a route. */
export interface RouteStoreInput {
  /**
   * Whether a HEAD that finds nothing stored fetches the page by GET and stores it. `false` for links that work once: mail
   * scanners ask for them by HEAD, and a GET would use them up. Default: the site's rule.
   */
  readonly onHead?: boolean | undefined;
  /** Which requests may be looked up and stored. Default: all that HTTP allows. */
  readonly when?: StoreWhenInput | undefined;
}

/** Which requests may be looked up and stored: `store.when` of a route. */
export interface StoreWhenInput {
  /**
   * By parameter: a request in which it is longer than `maxLength` characters is not looked up or stored.
   * Default none.
   */
  readonly query?: Readonly<Record<string, { readonly maxLength: number }>> | undefined;
}

/** How late purges may reach a route: `purge` of a route. */
export interface RoutePurgeInput {
  /**
   * How old the edge's knowledge of purges may be when it answers from the cache on this route, up to an hour. A
   * request then waits for the purge log only if the log has not been read for that long, and a purge may reach
   * the route that late. Every receipt of the site waits for the longest of these, so every purge settles that
   * late. Default `"0s"`: within a lease.
   */
  readonly maxViewAge?: Duration | undefined;
  /**
   * The same for responses that the origin calls `immutable` on this route. Default: the site's value, or
   * `maxViewAge` if that is longer.
   */
  readonly maxViewAgeImmutable?: Duration | undefined;
}

/**
 * Which GET and HEAD requests bypass the cache: they are not looked up, and their answers are not stored. Any visitor
 * can send what is named here and so reach the origin; such requests are counted as `askedPastTheCache`. A trailing `*`
 * of a name matches any ending.
 */
export interface BypassInput {
  /**
   * Names of cookies, whatever their values, or patterns that are looked for in the whole `Cookie` field, names and values:
   * `/session/i`. Default none.
   */
  readonly cookies?: readonly (string | RegExp)[] | undefined;
  /**
   * Names of fields, whatever their values; or, by a field's name, patterns to find in its value: `{ "user-agent":
   * [/bot/i] }`. A field that is not sent counts as empty. Default none.
   */
  readonly fields?: readonly string[] | Readonly<Record<string, readonly (string | RegExp)[]>> | undefined;
  /**
   * Names of query parameters, or patterns that are looked for in the whole query as it was sent; `true` for every query,
   * where parameters that the key leaves out do not count. The origin gets the query as it came. Default none.
   */
  readonly query?: boolean | readonly (string | RegExp)[] | undefined;
  /**
   * Whether visitors with a well-known framework's session cookie or a JSON Web Token bypass the cache where only `ttl` or
   * `defaultTtl` makes a page storable: the stored page is that of visitors without a session. If it is off, each start
   * logs the route. Default true.
   */
  readonly sessions?: boolean | undefined;
}

/**
 * How to treat request fields that are not in the key, by their names in any letter case; a trailing `*` matches any
 * ending. `key.fields` takes precedence over all lists.
 */
export interface FieldsInput {
  /**
   * Fields that do not reach the origin if the page may be stored. They take precedence over trusted ones. Default
   * none.
   */
  readonly drop?: readonly string[] | undefined;
  /**
   * Fields that go to the origin and do not change the page: the answers are stored for everybody. If that is wrong,
   * one visitor's answer reaches others. `Vary` is still obeyed, and errors are not stored. Each start logs it. Fields
   * that claim a host or a scheme, cookies and fields with credentials cannot be trusted. What was stored stays when a
   * field is taken from this list: purge it. Default none.
   */
  readonly trust?: readonly string[] | undefined;
  /**
   * Trusted fields that cannot provoke an error either, whatever their value: errors with a lifetime are stored for
   * everybody, too. If that is wrong, one visitor's odd value replaces a page for everybody by an error. They need not
   * be in `trust`, and each start logs them. As for `trust`, what was stored has to be purged. Default none.
   */
  readonly trustForErrors?: readonly string[] | undefined;
}

/**
 * How stale responses may be used if the origin does not say. `must-revalidate` and similar directives always forbid
 * it, and `s-maxage` does unless a window stands beside it or `overSMaxage` is true.
 */
export interface StaleInput {
  /**
   * How long a stale response may be used when the origin fails: it gives no answer, or answers 500, 502, 503 or 504. A
   * stored error of these does not stand in.
   * Default `"0s"`: only if the origin says `stale-if-error`.
   */
  readonly ifError?: Duration | undefined;
  /**
   * The same only when the origin gives no answer: it cannot be reached, hangs up or takes too long. The longer of this
   * and `ifError` counts. Default `"0s"`.
   */
  readonly ifDisconnected?: Duration | undefined;
  /**
   * How long a response may be used after its lifetime while it is fetched again after the answer, unless its lifetime
   * is 0, or it is an error of 500, 502, 503 or 504. Default `"0s"`: only if the origin says `stale-while-revalidate`.
   */
  readonly whileRevalidate?: Duration | undefined;
  /**
   * Whether these rules also cover a response with `s-maxage` and no window beside it, as in nginx. By RFC 9111, a cache
   * must not serve it stale. Default false.
   */
  readonly overSMaxage?: boolean | undefined;
  /**
   * Whether `ifError` and `ifDisconnected` also hold while the purge log is silent, although the response may have been purged. Default true.
   */
  readonly ifErrorWhileLogSilent?: boolean | undefined;
}

/** The limits of the edge; `check-site.ts` sets the defaults. Sizes and counts are per isolate where the description says so. */
export interface LimitsInput {
  /** The longest URL that is served; longer ones get 414. Default 16 KiB. */
  readonly urlBytes?: Size | undefined;
  /**
   * The most bytes of a request's fields, names and values together; a request with more gets 431. On Workers this
   * counts only for requests that go to the origin: for hits, the platform has a limit of 128 KB. Default 32 KiB.
   */
  readonly requestFieldBytes?: Size | undefined;
  /** The largest body of a request; a larger one gets 413. Default 100 MiB. */
  readonly requestBodyBytes?: Size | undefined;
  /**
   * The largest body of a request that `tidemark serve` takes in whole before it asks the origin, if it has room; a
   * larger one streams. If you set it to `requestBodyBytes`, no body streams because of its size. Default 16 MiB.
   */
  readonly heldBodyBytes?: Size | undefined;
  /**
   * How far `tidemark serve`, with a disk, reads an answer ahead of its client, so that a slow client does not hold up
   * the origin. One that is written to disk is read to its end. Default 16 MiB.
   */
  readonly readAheadBytes?: Size | undefined;
  /** How many fields an answer of the origin may have, up to 2000; one with more is answered with 502. Default 256. */
  readonly responseFields?: number | undefined;
  /**
   * The most bytes of an answer's fields, names and values together, up to 256 KiB; one with more is answered with 502.
   * Default 64 KiB.
   */
  readonly responseFieldBytes?: Size | undefined;
  /** The largest body that is read whole and stored with its head, in memory too. Default 8 MiB. */
  readonly storeBytes?: Size | undefined;
  /**
   * The largest body that is stored in a separate entry, if its length is announced; larger ones are passed on and not
   * stored. Default 512 MiB; for `tidemark serve`, seven sixteenths of what pages have of `--disk`, and none without one.
   */
  readonly largeBytes?: Size | undefined;
  /**
   * If a part is requested that is not stored, the whole is fetched and stored if it is at most this large, up to
   * `storeBytes`. Default 0: the part is passed on and not stored.
   */
  readonly fetchWholeBytes?: Size | undefined;
  /**
   * The most variants of one URL that are stored (`Vary`); the least recently used one is dropped first. Default 32.
   */
  readonly variants?: number | undefined;
  /**
   * The most bytes of bodies that are being read for the store and are not yet delivered, with 1 KiB for each piece of
   * them, together, per isolate. A client that reads nothing for a minute is cut off. Default 32 MiB.
   */
  readonly fillBytes?: Size | undefined;
  /**
   * How many bodies may be read for the store at once, per isolate; one that lasts for over a minute leaves its place to
   * the next, and others stream past unstored. Default 256.
   */
  readonly fills?: number | undefined;
  /**
   * The memory tier, per isolate: less than the 128 MB that Workers give an isolate for everything. Default 32 MiB; 0
   * turns it off, and then only the latest variant of a page is found. `tidemark serve` uses `--memory` instead.
   */
  readonly memoryBytes?: Size | undefined;
  /** The most tags of one response; one with more is not stored. Default 1000. */
  readonly tags?: number | undefined;
  /**
   * The longest wait for the head of the origin's answer; then 504. `tidemark serve` counts it from the last piece of
   * the request's body, and cuts off an answer whose body pauses for five minutes. At most 24 hours. Default 30 s.
   */
  readonly originTimeout?: Duration | undefined;
  /**
   * The origin counts as down when this many paths in a row have got no answer from it, up to 100; 0 for never. No
   * request waits for an origin that is down: a stale page is served at once if the rules allow it, and other requests
   * get 503. Default 3 under `tidemark serve`, else 0.
   */
  readonly originDownAfter?: number | undefined;
  /** The longest that a request waits for another request's fetch of the same page, up to 24 hours. Default 10 s. */
  readonly followTimeout?: Duration | undefined;
}

/** How `tidemark serve` compresses stored pages. */
export interface CompressionInput {
  /**
   * The codings that the server makes. A client that accepts several equally gets the first. Default `["br", "zstd",
   * "gzip"]`.
   */
  readonly codings?: readonly ("br" | "gzip" | "zstd")[] | undefined;
  /** Smaller bodies stay plain. Default 1 KiB. */
  readonly minBytes?: Size | undefined;
  /** Larger bodies stay plain, as do those above `limits.storeBytes`. Default 8 MiB. */
  readonly maxBytes?: Size | undefined;
  /**
   * The media types, each by its name, all of a kind like `"text/*"`, or all with an ending like `"*+json"`. Default:
   * text, scripts, JSON, XML, SVG, WebAssembly, and those fonts and pictures that are not compressed already.
   */
  readonly types?: readonly string[] | undefined;
  /** Higher levels make smaller bodies and take longer. Default: as each coding says. */
  readonly levels?: CompressionLevels | undefined;
}

/** How hard stored pages are compressed: `compression.levels` of the site. */
export interface CompressionLevels {
  /** Brotli: 0 to 11. Default 5. */
  readonly br?: number | undefined;
  /** 1 to 9. Default 6. */
  readonly gzip?: number | undefined;
  /** Zstandard: 1 to 19. Default 6. */
  readonly zstd?: number | undefined;
}

/**
 * The vendors whose purge calls the edge accepts. An id has letters, digits, `.`, `_` and `-`. Default of each: its
 * calls are refused.
 */
export interface DoorsInput {
  /** By the id of the zone. */
  readonly cloudflare?: { readonly zone: string } | undefined;
  /** By the id of the service. */
  readonly fastly?: { readonly service: string } | undefined;
  /** By the id of the zone. */
  readonly keycdn?: { readonly zone: string } | undefined;
  /** By the site's id, or its name. */
  readonly netlify?: { readonly site: string } | undefined;
  /**
   * `PURGE` and `BAN` on every URL, with a token of the scope `door:varnish`. For `tidemark serve`, calls from the
   * addresses in `from` need no token: single addresses, as the connection has them, that are not in `trustedProxies`.
   * A call with a field like `X-Forwarded-For` or `Origin` needs a token. Do not name an address from which a proxy
   * forwards requests of others, such as 127.0.0.1 beside nginx: all of them could purge.
   */
  readonly varnish?: true | { readonly from: readonly string[] } | undefined;
  /** By the project's id, or its name. */
  readonly vercel?: { readonly project: string } | undefined;
}
