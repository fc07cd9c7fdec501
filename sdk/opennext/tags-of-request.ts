/** The tags of the pages that passed through OpenNext's incremental cache while one request was answered. */
export interface TagsOfRequest {
  /** The tags of pages that were found there. */
  readonly found: Set<string>;
  /** The tags of pages that were rendered and written there. */
  readonly written: Set<string>;
}

/** An `AsyncLocalStorage`. */
interface Requests {
  getStore(): TagsOfRequest | undefined;
}

/** OpenNext bundles its config apart from the app's worker, so they have no module in common, only this global. */
const NAME: unique symbol = Symbol.for("tidemark.opennext.tags");

const shared = globalThis as { [NAME]?: Requests };

export function shareRequests(requests: Requests): void {
  shared[NAME] = requests;
}

/** Adds to the tags of the request that is being answered; outside `behindEdge`, as during a build, it does nothing. */
export function noteTags(kind: keyof TagsOfRequest, tags: readonly string[]): void {
  const request = shared[NAME]?.getStore();
  for (const tag of tags) request?.[kind].add(tag);
}
