/** The tags of the pages that passed through OpenNext's incremental cache during one request. */
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

/** OpenNext bundles its config separately from the app's worker, so they share no module, only this global. */
const NAME: unique symbol = Symbol.for("tidemark.opennext.tags");

const shared = globalThis as { [NAME]?: Requests };

export function shareRequests(requests: Requests): void {
  shared[NAME] = requests;
}

/** Adds to the tags of the current request; outside `behindEdge`, as during a build, it does nothing. */
export function noteTags(kind: keyof TagsOfRequest, tags: readonly string[]): void {
  const request = shared[NAME]?.getStore();
  for (const tag of tags) request?.[kind].add(tag);
}
