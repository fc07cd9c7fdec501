/** A duration: a number of seconds, or like `"30s"`, `"10m"`, `"24h"`, `"7d"`, `"2w"`. */
export type Duration = number | string;

/** A size: a number of bytes, or like `"512KiB"`, `"8MiB"`, `"1GiB"`. */
export type Size = number | string;

/** What an owner says about a site. Only `origin` is required. */
export interface SiteInput {
  /** The origin's address: scheme, host and port, without a path. The variable `TIDEMARK_ORIGIN` outranks it. */
  readonly origin: string;
  /**
   * The public host names, with a port where it is not the scheme's default; requests for others get 421.
   * Required to deploy, here or as `TIDEMARK_HOSTS`, which outranks it; on a laptop any host is served.
   */
  readonly hosts?: readonly string[] | undefined;
  /** The public address that is keyed and forwarded, where the edge itself is reached under another one. Default: none. */
  readonly publicUrl?: string | undefined;
  /** The rules by path, in order: the first that matches wins. What none matches obeys the origin. Default: none. */
  readonly routes?: readonly RouteInput[] | undefined;
  readonly cookies?:
    | {
        /** Cookies that no origin reads; a trailing `*` stands for any ending. Default: those of well-known analytics. */
        readonly ignore?: readonly string[] | undefined;
      }
    | undefined;
  /** What stale responses may do, for all routes that do not say otherwise. */
  readonly stale?: StaleInput | undefined;
  /**
   * Guess a lifetime from `Last-Modified` where the origin states none (RFC 9111 §4.2.2): this share of the time since
   * then. Default: nothing is guessed.
   */
  readonly heuristic?:
    | {
        /** Above 0, up to 1. Default 0.1. */
        readonly fraction?: number | undefined;
        /** The longest guess. Default 24 h. */
        readonly most?: Duration | undefined;
      }
    | undefined;
  /**
   * A field of this site's own for directives to this cache alone, like `CDN-Cache-Control`, which it outranks
   * (RFC 9213 §2.2). It is not passed on to clients. Default: none.
   */
  readonly targetedField?: string | undefined;
  /** Extra fields on every request to the origin, a shared secret for instance. Default: none. */
  readonly originFields?: Readonly<Record<string, string>> | undefined;
  readonly limits?: LimitsInput | undefined;
  readonly purge?:
    | {
        /**
         * How long a PoP may answer from what it knows of the purges, in milliseconds: 100 to 60000. Default 1000.
         * Longer means fewer reads of the purge log, and purges that settle later.
         */
        readonly leaseMs?: number | undefined;
        /** What clocks inside one PoP may differ, and one clock may step, in milliseconds. Default 250. */
        readonly skewMs?: number | undefined;
        /**
         * For how long after a soft purge a response that has no `stale-while-revalidate` of its own may be answered stale
         * while it is fetched anew, in milliseconds, and never beyond its lifetime. Default 0: it is validated first.
         */
        readonly softForMs?: number | undefined;
        /**
         * How late a purge may reach what the origin calls `immutable`, up to an hour, for all routes that do not say
         * otherwise. See `purge.within` of a route for the price. Default 0: like everything else, within a lease.
         */
        readonly immutableWithin?: Duration | undefined;
      }
    | undefined;
}

/** The rules for the paths that a pattern matches. */
export interface RouteInput {
  /** URLPattern pathname syntax: `/admin/*`, `/plog/:slug`. */
  readonly match: string;
  /** Send everything to the origin as it is; look up and store nothing. Default false. */
  readonly pass?: boolean | undefined;
  readonly key?:
    | {
        /**
         * Request fields that go to the origin as the visitor sent them, also those that the edge drops else, and that
         * select among stored responses as if `Vary` named them. Default none.
         */
        readonly fields?: readonly string[] | undefined;
        /** What becomes of the query before it is keyed and sent to the origin. */
        readonly query?:
          | {
              /** Parameters to drop; a trailing `*` stands for any ending. Default: those of well-known trackers. */
              readonly ignore?: readonly string[] | undefined;
              /** If given, all other parameters are dropped. */
              readonly only?: readonly string[] | undefined;
              /** Parameters whose values are lowercased. Default none. */
              readonly lowercase?: readonly string[] | undefined;
              /** Parameters whose values lose white space at both ends. Default none. */
              readonly trim?: readonly string[] | undefined;
              /** Sort the parameters by name. Default false: another order is another page. */
              readonly sort?: boolean | undefined;
            }
          | undefined;
      }
    | undefined;
  readonly store?:
    | {
        readonly when?:
          | {
              /** By parameter: requests in which it is longer than `maxLength` characters pass. Default: none. */
              readonly query?: Readonly<Record<string, { readonly maxLength: number }>> | undefined;
            }
          | undefined;
      }
    | undefined;
  /**
   * Take `Set-Cookie` off every answer to GET and HEAD, so that it keeps none from being stored. Only for pages that are
   * the same for all, whatever cookies the origin sets beside; each start says so in the log. Default false.
   */
  readonly stripSetCookie?: boolean | undefined;
  /** Replaces the lifetime of what the origin allows to be stored; it makes nothing storable. */
  readonly ttl?: Duration | undefined;
  /**
   * The lifetime where the origin gives none: one, for 200, 203, 204, 300, 301 and 308, or one per status. Errors get one
   * only where their status is named.
   */
  readonly defaultTtl?: Duration | Readonly<Record<string, Duration>> | undefined;
  /**
   * What browsers are told to keep stored responses for, from the moment of the answer: a purge cannot reach them there.
   * An origin's `no-cache` or `no-store` for them stands. Default: what the origin says.
   */
  readonly browserTtl?: Duration | undefined;
  /**
   * Which directives of a visitor's `Cache-Control` are obeyed. `"harmless"`: `no-store`, `only-if-cached`, `max-stale`,
   * `stale-if-error`. `"all"`: also `no-cache`, `max-age`, `min-fresh`, and `Pragma: no-cache`, by which any visitor can
   * send requests to the origin. Default `"harmless"`.
   */
  readonly requestDirectives?: "harmless" | "all" | undefined;
  /** What stale responses may do on this route. Default: what the site says. */
  readonly stale?: StaleInput | undefined;
  readonly purge?:
    | {
        /**
         * How late a purge may reach this route, up to an hour: a request then waits for the purge log only where nothing
         * has been read of it for so long. Every receipt of the site counts with the longest bound of all routes, so
         * each purge settles as late. Default 0: within a lease.
         */
        readonly within?: Duration | undefined;
        /** The same for what the origin calls `immutable` on this route. Default: what the site says, or `within`. */
        readonly immutableWithin?: Duration | undefined;
      }
    | undefined;
  /** Tags for every response of the route; `{name}` stands for a parameter of `match`. Default none. */
  readonly tags?: readonly string[] | undefined;
}

/** What stale responses may do where the origin does not say. `must-revalidate` and its like always forbid it. */
export interface StaleInput {
  /** How long one may stand in for an origin that fails. Default 0: only where the origin says `stale-if-error`. */
  readonly ifError?: Duration | undefined;
  /** Whether one may also while the purge log is silent, so that it may have been purged. Default true. */
  readonly ifErrorWhileLogSilent?: boolean | undefined;
}

/** What is bounded. Sizes and counts are per isolate where it says so. */
export interface LimitsInput {
  /** The longest URL that is served; longer ones get 414. Default 16 KiB. */
  readonly urlBytes?: Size | undefined;
  /** The fields of a request that goes to the origin, names and values together; one with more gets 431. Default 32 KiB. */
  readonly requestFieldBytes?: Size | undefined;
  /** The body of a request; a larger one gets 413. Default 100 MiB. */
  readonly requestBodyBytes?: Size | undefined;
  /** How many fields an answer of the origin may have; one with more is answered with 502. Default 256. */
  readonly responseFields?: number | undefined;
  /** Their names and values together; an answer with more is answered with 502. Default 64 KiB. */
  readonly responseFieldBytes?: Size | undefined;
  /** The largest body that is read whole and stored with its head, in memory too. Default 8 MiB. */
  readonly storeBytes?: Size | undefined;
  /** The largest body that is stored apart, if its length is announced; larger ones stream past. Default 512 MiB. */
  readonly largeBytes?: Size | undefined;
  /**
   * Where a part is asked for that is not stored, the whole is fetched and stored if it is at most so large, up to
   * `storeBytes`. Default 0: the part is passed on and not stored.
   */
  readonly fetchWholeBytes?: Size | undefined;
  /** The most stored variants of one URL (`Vary`); the least used one goes first. Default 32. */
  readonly variants?: number | undefined;
  /** The bytes of bodies being read for the store and not yet delivered, together, per isolate. Default 32 MiB. */
  readonly fillBytes?: Size | undefined;
  /** How many bodies may be read for the store at once, per isolate; others stream past unstored. Default 256. */
  readonly fills?: number | undefined;
  /** The memory tier, per isolate. Default 32 MiB; 0 turns it off. */
  readonly memoryBytes?: Size | undefined;
  /** The most tags of one response; one with more is not stored. Default 1000. */
  readonly tags?: number | undefined;
  /** The longest wait for the head of the origin's answer; then 504. Default 30 s. */
  readonly originTimeout?: Duration | undefined;
  /** The longest that a request waits for another one's fetch of the same page. Default 10 s. */
  readonly follow?: Duration | undefined;
}
