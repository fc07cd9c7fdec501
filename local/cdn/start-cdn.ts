import { missingPeersMessage } from "../../package/optional-peers.ts";
import { isWranglerConfig } from "../config/wrangler-config.ts";
import type { Cdn } from "./cdn.ts";
import type { CdnOptions } from "./cdn-options.ts";
import { checkCdnOptions } from "./check-options.ts";
import { checkStart } from "./check-timers.ts";

/** Starts a whole CDN on free ports of this machine. If a part of it cannot start, it throws and leaves nothing behind. */
export async function startCdn<const Region extends string = "local">(
  options: CdnOptions<Region>,
): Promise<Cdn<Region>> {
  const { bun } = process.versions;
  if (bun !== undefined)
    throw new Error(`startCdn: this is Bun ${bun}, and a CDN needs Node: run these tests in Node.`);
  checkCdnOptions(options);
  await checkStart("startCdn");
  if (!(Buffer.from("") instanceof Uint8Array)) throw new Error(`startCdn: ${NOT_IN_JSDOM}`);
  const needsWrangler = options.config !== undefined && isWranglerConfig(options.config);
  const peers = ["miniflare", "esbuild", ...(needsWrangler ? (["wrangler"] as const) : [])] as const;
  const missing = missingPeersMessage("startCdn", peers);
  if (missing !== null) throw new Error(missing);
  const { assembleCdn } = await import("./assemble-cdn.ts");
  return assembleCdn(options);
}

const NOT_IN_JSDOM =
  "esbuild does not run in jsdom. Write // @vitest-environment node, or @jest-environment node, at the top of the test file.";
