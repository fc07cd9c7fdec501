import { createHash } from "node:crypto";
import { Agent } from "node:http";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { type EdgeWorker, startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import type { Tokens } from "../../../worker/ports/access.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import type { ClientAnswer, Engine } from "../../engine/engine.ts";
import { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { type ClientRequest, HOST, TOKEN } from "../../engine/scenario.ts";
import { startServerEngine } from "../../engine/server/server-engine.ts";
import { buildEdge } from "../../runtime/built-edge.ts";

export const ZONE = "023e105f4ecef8ad9ca31a8372d0c353";

/** A site with every door open. */
export const EVERY_DOOR = {
  cloudflare: { zone: ZONE },
  fastly: { service: "SU1Z0isxPaozGVKXdv0eY" },
  keycdn: { zone: "4711" },
  netlify: { site: "3970e0fe-8564-4903-9a55-c5f8de49fb8b" },
  varnish: true,
  vercel: { project: "prj_12HKQaOmR5t5Uy6vdcQsNIiZgHGB" },
} as const satisfies SiteInput["doors"];

/** One token for each door, with its scope. The last one is for another zone than the site's. */
export const DOOR_TOKENS = {
  cloudflare: ["token-of-the-door-cloudflare-0000", `door:cloudflare:${ZONE}`],
  fastly: ["token-of-the-door-fastly-00000000", "door:fastly:SU1Z0isxPaozGVKXdv0eY"],
  keycdn: ["token-of-the-door-keycdn-00000000", "door:keycdn:4711"],
  netlify: ["token-of-the-door-netlify-0000000", "door:netlify:3970e0fe-8564-4903-9a55-c5f8de49fb8b"],
  varnish: ["token-of-the-door-varnish-0000000", "door:varnish"],
  vercel: ["token-of-the-door-vercel-00000000", "door:vercel:prj_12HKQaOmR5t5Uy6vdcQsNIiZgHGB"],
  otherZone: ["token-of-another-zone-00000000000", `door:cloudflare:${"0".repeat(32)}`],
} as const;

/** `TIDEMARK_TOKENS` with all of them. */
export const TOKEN_LIST = JSON.stringify(
  Object.entries(DOOR_TOKENS).map(([name, [token, scope]]) => ({
    name: `of-${name}`,
    scopes: [scope],
    sha256: createHash("sha256").update(token).digest("hex"),
  })),
);

/** An edge on one platform, as far as the tests of doors need it. */
export interface DoorEdge {
  ask(request: ClientRequest): Promise<ClientAnswer>;
  /** Publishes a page with tags. Its replies count: `/about 1`, `/about 2`. */
  publish(path: string, tags: string): void;
  stop(): Promise<void>;
}

type Site = Omit<Partial<SiteInput>, "origin">;

/** How an edge with this site starts on each platform. */
export const PLATFORMS: Readonly<Record<string, (site: Site) => Promise<DoorEdge>>> = {
  "the memory engine": async (site) => overEngine(startMemoryEngine(site, 1, undefined, tokensInMemory)),
  "the Workers runtime": (site) => startRuntime(site, VIRTUAL_TIME),
  "the Workers runtime, built for its site": (site) => startRuntime(site, BUILT),
  "tidemark serve": async (site) => overEngine(await startServerEngine(site, TOKEN_LIST)),
};

function repliesOf(path: string, tags: string) {
  const fields = { "cache-control": "max-age=3600", "cache-tag": tags };
  return Array.from({ length: 60 }, (_, index) => ({ fields, body: `${path} ${index + 1}` }));
}

export function overEngine(engine: Engine): DoorEdge {
  return {
    ask: (request) => engine.settle(engine.send(request)),
    publish: (path, tags) => engine.reply(path, repliesOf(path, tags)),
    stop: () => engine.stop(),
  };
}

/** How a worker for a site is made, and the time of its origin. */
interface Making {
  readonly now: () => number;
  readonly make: (site: SiteInput) => Promise<EdgeWorker>;
}

const VIRTUAL_TIME: Making = {
  now: () => 0,
  make: async (SITE) => ({
    script: await bundleWorker("local/runtime/virtual-time.worker.ts"),
    variables: { SITE },
  }),
};

/** As it is deployed: with the doors that are open, and no others. */
const BUILT: Making = {
  now: () => Date.now(),
  make: async (site) => ({ ...(await buildEdge(site)), variables: {} }),
};

async function startRuntime(site: Site, { now, make }: Making): Promise<DoorEdge> {
  const origin = new ScriptedOrigin(now);
  await origin.comeUp();
  const worker = await make({ origin: origin.url, hosts: [HOST], ...site });
  const tokens = { TIDEMARK_TOKEN: TOKEN, TIDEMARK_TOKENS: TOKEN_LIST };
  const edge = await startEdgeRuntime({ ...worker, variables: { ...worker.variables, ...tokens } }, { port: 0 });
  const agent = new Agent({ keepAlive: false });
  return {
    ask: (request) => exchange(edge.url, agent, request),
    publish: (path, tags) => origin.reply(path, ...repliesOf(path, tags)),
    stop: async () => {
      await edge.stop();
      await origin.goDown();
    },
  };
}

/** The same tokens compared without hashing, because the memory engine decides the order of everything. */
export const tokensInMemory: Tokens = {
  check: async (token, scope) => {
    if (token === TOKEN) {
      const isAllowed = scope === "purge" || scope === "read";
      return isAllowed ? { kind: "allowed", name: "TIDEMARK_TOKEN" } : { kind: "refused", because: "forbidden" };
    }
    const [name, known] = Object.entries(DOOR_TOKENS).find(([, [each]]) => each === token) ?? [];
    if (!known) return { kind: "refused", because: "unauthorized" };
    return known[1] === scope ? { kind: "allowed", name: `of-${name}` } : { kind: "refused", because: "forbidden" };
  },
};
