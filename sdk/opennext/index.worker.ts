/**
 * For an app on OpenNext behind an edge on Workers: its pages carry their tags, and its revalidations purge the edge.
 */

import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { AsyncLocalStorage } from "node:async_hooks";
import { createPurger } from "../index.web.ts";
import { KeptPurges } from "./kept-purges.ts";
import { tagged } from "./tagged.ts";
import { shareRequests, type TagsOfRequest } from "./tags-of-request.ts";

/** The environment that `TidemarkPurge` needs. */
export interface PurgeEnv {
  /** The edge, as a service binding. Without it, `TIDEMARK_ENDPOINT` is asked. */
  readonly TIDEMARK?: { fetch(request: Request): Promise<Response> };
  /** The site's origin, like `https://www.example.com`. */
  readonly TIDEMARK_ENDPOINT?: string;
  /** A token of the edge with the scope `purge`. */
  readonly TIDEMARK_TOKEN?: string;
  /** The `basePath` of `next.config`, like `/docs`: Next's tags leave it out, and the edge has it. Default: none. */
  readonly TIDEMARK_BASE_PATH?: string;
}

/** How long an action of the app waits for the edge's answer. After that, the purge is sent in the background. */
const DEADLINE_MS = 2000;

/**
 * The Durable Object that OpenNext calls after each `revalidateTag`, `updateTag` and `revalidatePath`, under the binding
 * `NEXT_CACHE_DO_PURGE`. It keeps each purge until the edge has accepted it.
 */
export class TidemarkPurge extends DurableObject<PurgeEnv> {
  readonly #purges: KeptPurges;

  constructor(state: DurableObjectState, env: PurgeEnv) {
    super(state, env);
    const { TIDEMARK, TIDEMARK_ENDPOINT, TIDEMARK_TOKEN, TIDEMARK_BASE_PATH = "" } = env;
    const purger = createPurger({
      // A service has no address of its own.
      endpoint: TIDEMARK_ENDPOINT ?? (TIDEMARK && "https://tidemark.invalid"),
      token: TIDEMARK_TOKEN,
      fetch: TIDEMARK && ((url, init) => TIDEMARK.fetch(new Request(url, init as RequestInit))),
      deadlineMs: DEADLINE_MS,
    });
    this.#purges = new KeptPurges(state.storage, purger, TIDEMARK_BASE_PATH);
  }

  /** Called by OpenNext. */
  async purgeCacheByTags(tags: readonly string[]): Promise<void> {
    await this.#purges.purge(tags);
  }

  override async alarm(): Promise<void> {
    await this.#purges.sendAll();
  }
}

/** The worker that OpenNext builds: the default export of `.open-next/worker.js`. */
export interface OpenNextWorker {
  // biome-ignore lint/suspicious/noExplicitAny: the environment is the app's own.
  fetch(request: Request, env: any, context: ExecutionContext): Response | Promise<Response>;
}

/**
 * The app as an entrypoint of its worker. Its answers carry the tags of their pages in `Cache-Tag`, if
 * `open-next.config.ts` wraps the incremental cache in `withTags`. Every revalidation purges other pages of Next's
 * cache, and answers that Next renders for each request, unless they have a `Cache-Tag` of the app.
 */
export function behindEdge(
  app: OpenNextWorker,
): new (
  context: ExecutionContext,
  env: Cloudflare.Env,
) => WorkerEntrypoint {
  const requests = new AsyncLocalStorage<TagsOfRequest>();
  shareRequests(requests);
  return class extends WorkerEntrypoint {
    override async fetch(request: Request): Promise<Response> {
      const tags = { found: new Set<string>(), written: new Set<string>() };
      const answer = await requests.run(tags, async () => await app.fetch(request, this.env, this.ctx));
      return tagged(answer, new URL(request.url).pathname, tags);
    }
  };
}
