import type { Cdn } from "./cdn.ts";
import type { Latency } from "./latency.ts";
import { lackOf } from "./optional-peers.ts";
import type { ServerReply } from "./scripted-origin.ts";
import type { SimulatedSiteInput } from "./simulated-site-input.ts";
import { isWranglerConfig } from "./config/wrangler-config.ts";

/** What each path of a scripted origin answers: one reply, or several in turn, the last of them for ever. */
export type OriginScript = Readonly<Record<string, ServerReply | readonly ServerReply[]>>;

export type CdnOptions<Region extends string = string> = CommonOptions<Region> &
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

interface CommonOptions<Region extends string> {
  /** A running site's URL, without a path, or the script of an origin that the CDN starts. Default: an empty script. */
  readonly origin?: string | URL | OriginScript;
  /** The names of the PoPs. Default: one, `local`. */
  readonly regions?: readonly Region[];
  /** How many isolates each PoP has, sharing its cache. Default 1. */
  readonly isolates?: number;
  /**
   * Round trips to visitors, origin and purge log, in real time: `true` for those of the table `ROUND_TRIPS`, or one's
   * own by region. Default `false`: none.
   */
  readonly latency?: Latency;
  /** The public address that is keyed and forwarded, like `https://www.example.com`. Default: as the site says. */
  readonly publicUrl?: string;
  /** The token of the control plane. Default: a random one. */
  readonly token?: string;
}

/** Starts a whole CDN on free ports of this machine. Throws, and leaves nothing, if a part of it cannot start. */
export async function startCdn<const Region extends string = "local">(
  options: CdnOptions<Region>,
): Promise<Cdn<Region>> {
  const readsWrangler = options.config !== undefined && isWranglerConfig(options.config);
  const lack = lackOf("startCdn", ["miniflare", "esbuild", ...(readsWrangler ? (["wrangler"] as const) : [])]);
  if (lack !== null) throw new Error(lack);
  const { startRunningCdn } = await import("./assemble-cdn.ts");
  return startRunningCdn(options);
}
