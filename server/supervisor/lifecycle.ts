/**
 * What a server does besides answering: whether it reloads, hands over to a successor, or ends. It holds no process; the
 * supervisor carries out the actions, and tells what has come of them.
 */
export interface Lifecycle {
  /** It finishes its answers and ends: it was told to stop, has handed over, or has given up. */
  readonly isEnding: boolean;
  readonly isToldToStop: boolean;
  /** The configuration is being loaded anew. */
  readonly isLoading: boolean;
  /** The configuration has to be loaded again: the load under way may have read it before its last change. */
  readonly isReloadDue: boolean;
  /** `asked`: it waits for the end of the predecessor and of a reload. */
  readonly upgrade: "none" | "asked" | "under-way";
  /** Workers of the server before this one have not ended. */
  readonly hasPredecessor: boolean;
  /** It has given its log to a new server, or is about to, and does not have it back. */
  readonly hasSuccessor: boolean;
  /** Another server has the sockets as well, and listens on them when this one ends. */
  readonly sharesSockets: boolean;
}

export type LifecycleEvent =
  /** By the owner, who means the successor where that has taken over. */
  | { readonly kind: "reload-asked" }
  /** The files have changed, as a successor sees by itself. */
  | { readonly kind: "changes-seen" }
  | { readonly kind: "reload-ended" }
  | { readonly kind: "upgrade-asked" }
  /** The successor is gone, and this server has the log back. */
  | { readonly kind: "successor-failed" }
  | { readonly kind: "upgrade-ended"; readonly hasHandedOver: boolean }
  | { readonly kind: "predecessor-followed" }
  | { readonly kind: "predecessor-ended" }
  /** Its workers accept connections. */
  | { readonly kind: "listening" }
  | { readonly kind: "stop-asked" }
  | { readonly kind: "gave-up" };

/** How long answers may take: as at a stop, as when another server has taken over, or no time at all. */
export type EndsWithin = "stop" | "replace" | "now";

export type LifecycleAction =
  /** Load the configuration for all who wait for that. */
  | { readonly kind: "load" }
  /** Tell all who wait for the configuration to be loaded that it is not in use. */
  | { readonly kind: "refuse-reloads" }
  | { readonly kind: "close-unused-logs" }
  | { readonly kind: "say-that-upgrade-waits" }
  | { readonly kind: "hand-over" }
  | { readonly kind: "answer-upgrades"; readonly hasHandedOver: boolean }
  | { readonly kind: "reload-successor" }
  | { readonly kind: "stop-predecessor"; readonly within: EndsWithin }
  | { readonly kind: "end"; readonly within: EndsWithin; readonly because: "stopped" | "handed-over" | "gave-up" }
  /** It ends already, and has less time now. */
  | { readonly kind: "hurry"; readonly within: EndsWithin };

export interface Advance {
  readonly next: Lifecycle;
  readonly actions: readonly LifecycleAction[];
}

/** `hasSockets`: it has taken over the sockets of a server before it. */
export function beginLifecycle(hasSockets: boolean): Lifecycle {
  return {
    isEnding: false,
    isToldToStop: false,
    isLoading: false,
    isReloadDue: false,
    upgrade: "none",
    hasPredecessor: false,
    hasSuccessor: false,
    sharesSockets: hasSockets,
  };
}

export function advance(now: Lifecycle, event: LifecycleEvent): Advance {
  switch (event.kind) {
    case "reload-asked":
    case "changes-seen":
      if (!now.hasSuccessor || now.upgrade === "under-way") return begin({ ...now, isReloadDue: true });
      return {
        next: now,
        actions: [...(event.kind === "reload-asked" ? RELOAD_SUCCESSOR : []), { kind: "refuse-reloads" }],
      };
    case "reload-ended":
      return begin({ ...now, isLoading: false }, [{ kind: "close-unused-logs" }]);
    case "upgrade-asked":
      if (now.upgrade !== "none") return { next: now, actions: [] };
      return begin({ ...now, upgrade: "asked" }, now.hasPredecessor ? [{ kind: "say-that-upgrade-waits" }] : []);
    case "successor-failed":
      return { next: { ...now, hasSuccessor: false }, actions: [] };
    case "upgrade-ended":
      if (event.hasHandedOver) return handedOver(now);
      return begin({ ...now, upgrade: "none", hasSuccessor: false }, [NOT_HANDED_OVER]);
    case "predecessor-followed":
      return { next: { ...now, hasPredecessor: true }, actions: [] };
    case "predecessor-ended":
      return begin({ ...now, hasPredecessor: false });
    case "listening":
      return { next: { ...now, sharesSockets: false }, actions: [] };
    case "stop-asked":
      return stopped(now);
    case "gave-up":
      return { next: { ...now, isEnding: true }, actions: end(now, "now", "gave-up") };
  }
}

const RELOAD_SUCCESSOR: readonly LifecycleAction[] = [{ kind: "reload-successor" }];
const NOT_HANDED_OVER: LifecycleAction = { kind: "answer-upgrades", hasHandedOver: false };

/** Begins what is due and may begin: a reload, and after all reloads an upgrade. */
function begin(now: Lifecycle, before: readonly LifecycleAction[] = []): Advance {
  const { isEnding, isLoading, isReloadDue, upgrade, hasPredecessor, hasSuccessor } = now;
  const mayReload = !isLoading && !(upgrade === "under-way" && hasSuccessor);
  if (isReloadDue && mayReload && isEnding) {
    return begin({ ...now, isReloadDue: false }, [...before, { kind: "refuse-reloads" }]);
  }
  if (isReloadDue && mayReload) {
    return { next: { ...now, isReloadDue: false, isLoading: true }, actions: [...before, { kind: "load" }] };
  }
  // A successor could not learn when the workers of the predecessor end.
  if (upgrade !== "asked" || hasPredecessor || isLoading) return { next: now, actions: before };
  if (isEnding) return { next: { ...now, upgrade: "none" }, actions: [...before, NOT_HANDED_OVER] };
  return { next: { ...now, upgrade: "under-way", hasSuccessor: true }, actions: [...before, { kind: "hand-over" }] };
}

/** The successor has read the configuration at its start, and perhaps not what has changed since. */
function handedOver(now: Lifecycle): Advance {
  return {
    next: { ...now, upgrade: "none", isEnding: true, isReloadDue: false, hasSuccessor: true, sharesSockets: true },
    actions: [
      ...end(now, "replace", "handed-over"),
      { kind: "answer-upgrades", hasHandedOver: true },
      ...(now.isReloadDue ? [...RELOAD_SUCCESSOR, { kind: "refuse-reloads" } as const] : []),
    ],
  };
}

/** The second time everything ends at once. */
function stopped(now: Lifecycle): Advance {
  const within = now.isToldToStop ? "now" : "stop";
  return {
    next: { ...now, isEnding: true, isToldToStop: true },
    actions: [
      ...(now.hasPredecessor ? [{ kind: "stop-predecessor", within } as const] : []),
      ...(now.isEnding ? [{ kind: "hurry", within } as const] : end(now, within, "stopped")),
    ],
  };
}

function end(
  { isEnding }: Lifecycle,
  within: EndsWithin,
  because: "stopped" | "handed-over" | "gave-up",
): readonly LifecycleAction[] {
  return isEnding ? [] : [{ kind: "end", within, because }];
}
