import type { Waiting } from "../../worker/rules/queueing/queue-order.ts";

/** What a holder of permits tells the supervisor about a site. Plain data. */
export type PermitMessage =
  /** It may want permits from now on. `limit`: those of all holders together; `share`: the part that it gets at once. */
  | { readonly kind: "joins"; readonly site: string; readonly limit: number; readonly share: number }
  /** A request of its waits at this place. */
  | ({ readonly kind: "waits"; readonly site: string } & Waiting)
  /** That request no longer waits. */
  | ({ readonly kind: "leaves"; readonly site: string } & Waiting)
  /** It gives so many back. */
  | { readonly kind: "returns"; readonly site: string; readonly count: number };

/** What a holder is told. */
export interface PermitNews {
  readonly site: string;
  /** So many more are its own from now on. */
  readonly granted: number;
  /** The requests of its whose turn it was: each has one of those. */
  readonly turns: readonly Waiting[];
  /** Whether others wait, so that it gives back each permit that it does not use at this moment. */
  readonly isShort: boolean;
}

/** The question by which a worker waits for news. */
export const ASKS_FOR_PERMITS = "permits";

/** Work that nobody waits for has its turn after every request that somebody waits for. */
export const AFTER_ALL: Waiting = {
  client: "other",
  recentMisses: Number.MAX_SAFE_INTEGER,
  since: Number.MAX_SAFE_INTEGER,
};

const KINDS: ReadonlySet<unknown> = new Set(["joins", "waits", "leaves", "returns"]);

export function isPermitMessage(message: unknown): message is PermitMessage {
  return KINDS.has((message as { readonly kind?: unknown } | null)?.kind);
}

/** A place alone, of a request or of a message, as plain data. A server of an earlier version tells its `since` alone. */
export function placeOf({ client = "other", recentMisses = 0, since }: Waiting): Waiting {
  return { client, recentMisses, since };
}
