import type { SiteInput } from "../../worker/site/site-input.ts";
import type { Latency } from "./latency.ts";
import type { OriginScript } from "./scripted-origin.ts";

/** A site as plain data. Its `origin` may be left out: a simulated CDN has one. Of yours, only the limits count. */
export type SimulatedSiteInput = Omit<SiteInput, "origin"> & { readonly origin?: SiteInput["origin"] };

/** What `startCdn` takes: a site, from an object or a file, and the settings of the CDN around it. */
export type CdnOptions<Region extends string = string> = CdnSettings<Region> &
  (
    | {
        /** The site's rules as plain data, run by the package's own worker. */
        readonly site: SimulatedSiteInput;
        readonly config?: never;
      }
    | {
        /** A file: a `wrangler.toml`, whose `main` is run, or a `tidemark.config.ts`. */
        readonly config: string;
        readonly site?: never;
      }
  );

/** The CDN around a site: each setting may be left out. A `TypeError` names one that is wrong or unknown. */
export interface CdnSettings<Region extends string = string> {
  /** The URL of a running site, without a path, or the script of an origin that the CDN starts. Default: an empty script. */
  readonly origin?: string | URL | OriginScript;
  /** The names of the PoPs. Default: one, `local`. */
  readonly regions?: readonly Region[];
  /** The number of isolates in each PoP. They share its cache. Default 1. */
  readonly isolates?: number;
  /**
   * Round trips to visitors, origin and purge log, in real time: `true` for the table `ROUND_TRIPS`, or your own by
   * region. Default `false`: none.
   */
  readonly latency?: Latency;
  /** The public address for cache keys and for the origin, like `https://www.example.com`. Default: the site's. */
  readonly publicUrl?: string;
  /** The token of the control plane. A weak one will do here, where it protects nothing. Default: a random one. */
  readonly token?: string;
}
