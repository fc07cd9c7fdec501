/** The cache keys that the messages of failing tests name. */
import type { EdgeEnv, SiteInput } from "tidemark/worker";
import { createEdgeWithHooks, type EdgeHooks, type Platform } from "tidemark/worker/internal";

/** The most keys that an isolate remembers. */
const MAX_KEYS = 10_000;

/** The keys of entries that an isolate has stored or found, the newest last. */
export class StoredKeys {
  readonly #keys = new Set<string>();

  list(): string[] {
    return [...this.#keys];
  }

  remember(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    for (const oldest of this.#keys) {
      if (this.#keys.size <= MAX_KEYS) break;
      this.#keys.delete(oldest);
    }
  }

  forget(key: string): void {
    this.#keys.delete(key);
  }

  clear(): void {
    this.#keys.clear();
  }
}

/** The parts of an edge. */
interface EdgeParts {
  readonly site: SiteInput;
  readonly env: EdgeEnv;
  readonly clock: NonNullable<EdgeHooks["clock"]>;
}

/**
 * The key under which a request is looked up; `null` if it is not looked up. The worker's own code makes it: the
 * request goes to an edge with nothing stored and no network, and the key that it looks up is the result.
 */
export async function cacheKeyOf(
  url: string,
  fields: Readonly<Record<string, string>>,
  { site, env, clock }: EdgeParts,
): Promise<string | null> {
  let key: string | null = null;
  const unreachable = async () => {
    throw new Error("an edge that only makes keys has no purge log");
  };
  const platform = ({ origin, ...rest }: Platform): Platform => ({
    ...rest,
    origin: { url: origin.url, fetch: async () => ({ kind: "failed", because: "unreachable", cause: "no network" }) },
    log: { read: unreachable, append: unreachable },
    notes: { read: async () => null, write: async () => undefined },
    sharedTier: {
      get: async (lookedUp) => {
        key = lookedUp;
        return undefined;
      },
      put: async () => undefined,
      delete: async () => undefined,
      getBody: async () => undefined,
      putBody: async () => undefined,
    },
  });
  const edge = createEdgeWithHooks(site, { clock, acceptsWeakTokens: true, platform });
  const request = new Request(url, { headers: fields }) as Parameters<NonNullable<typeof edge.fetch>>[0];
  const context = { waitUntil: () => undefined, passThroughOnException: () => undefined };
  await edge.fetch!(request, env, context as unknown as ExecutionContext);
  return key;
}
