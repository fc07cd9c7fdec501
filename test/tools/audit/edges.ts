import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nginx } from "../../../bench/peers/nginx.ts";
import { RunningPeer } from "../../../bench/peers/peer.ts";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import { TOKEN } from "../../engine/scenario.ts";

/** A cache in front of the site. */
export interface AuditedEdge extends AsyncDisposable {
  readonly url: URL;
}

const SEED = new URL("../import/configurations/laptop/nginx.conf", import.meta.url);

/** nginx with the location of the project's first configuration, and more lines. */
export async function seedNginx(origin: URL, lines: readonly string[] = []): Promise<AuditedEdge> {
  const [, location] = /location \/ \{(.*?)\}/s.exec(readFileSync(SEED, "utf8"))!;
  const seed = location!
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^proxy_(?:pass|cache) /.test(line));
  return RunningPeer.start(nginx("nginx", { location: [...seed, ...lines] }), { origin });
}

/** nginx as guides for sites that set a cookie on every page have it. */
export function obliviousNginx(origin: URL): Promise<AuditedEdge> {
  return seedNginx(origin, ["proxy_ignore_headers Cache-Control Expires Set-Cookie Vary;"]);
}

/** The worker of Cloudflare's guide to the Cache API: `caches.default` by URL, with a lifetime of its own. */
export async function usualWorker(origin: URL): Promise<AuditedEdge> {
  const script = await bundleWorker(fileURLToPath(new URL("usual.worker.ts", import.meta.url)));
  const variables = { ORIGIN: origin.origin };
  const { url, stop } = await startEdgeRuntime({ script, variables, purgeLog: false }, { port: 0 });
  return { url, [Symbol.asyncDispose]: stop };
}

/** Tidemark in the Workers runtime. */
export async function tidemark(origin: URL, site: Omit<Partial<SiteInput>, "origin">): Promise<AuditedEdge> {
  const script = await bundleWorker("local/runtime/virtual-time.worker.ts");
  const variables = { SITE: { origin: origin.origin, ...site }, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
  const { url, stop } = await startEdgeRuntime({ script, variables }, { port: 0 });
  return { url, [Symbol.asyncDispose]: stop };
}
