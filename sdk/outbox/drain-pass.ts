import { nextToSend, SENT_AT_ONCE } from "./claims.ts";
import type { StoreClaims } from "./outbox-store.ts";
import { orderedItems, type WaitingRow } from "./queued-purge.ts";

/** Bounds of one call of `drain`: the rows that it handles, and that it leases at a time. */
const MAX_ROWS = 1_000;
const CLAIMED_ROWS = 50;

/** A lease covers three attempts, one after the other. A row is sent only while the lease covers the whole attempt. */
const LEASE_DEADLINES = 3;

/** The pause of all purges after one was given up because the edge cannot be reached. */
const PAUSE_AFTER_DEATH_MS = 1_000;

/** The progress of one call of `drain`. */
export interface DrainPass {
  /** The handled purges. The lists grow while rows are sent. */
  readonly handled: HandledPurges;
  readonly leaseId: string;
  /** The end of the lease, by the clock of this process. */
  readonly leaseEndsAt: number;
  /** The rows of the lease that were not sent yet, in their order. */
  readonly left: readonly WaitingRow[];
  /** The rows that are being sent, each with the number of rows that had happened when it was begun. */
  readonly underWay: ReadonlyMap<WaitingRow, number>;
  /** The number of rows that have happened. */
  readonly happened: number;
  /** The items of the lease's failed rows: no later row with one of these items may be sent under this lease. */
  readonly held: ReadonlySet<string>;
  /** The reason to stop sending, if there is one. */
  readonly stop: Stop | null;
}

export interface HandledPurges {
  readonly sent: readonly unknown[];
  readonly failed: readonly { readonly dueInMs: number }[];
  readonly dead: readonly unknown[];
}

type Stop =
  | { readonly because: "nothing-due"; readonly nextDueInMs: number | null }
  /** The edge, or one of several, fails for every purge: the others are due, but would also fail. */
  | { readonly because: "edge-fails" }
  /** The database or a callback of the owner failed. */
  | { readonly because: "broken"; readonly error: unknown };

/** The next action of a call of `drain`. */
export type DrainStep =
  | { readonly kind: "claim"; readonly limit: number }
  /** Rows to send now, beside those that are under way. */
  | { readonly kind: "send"; readonly rows: readonly WaitingRow[] }
  /** Until one of the rows under way has ended. */
  | { readonly kind: "wait" }
  /** Rows of the lease that are given back without being sent. */
  | { readonly kind: "release"; readonly rows: readonly WaitingRow[] }
  | { readonly kind: "end"; readonly nextDueInMs: number | null }
  | { readonly kind: "throw"; readonly error: unknown };

/**
 * The result of sending one row. `happened`: later rows with the same items may follow. `failed`: they may not.
 * `edge-fails`: they may not, and no row is sent for now, unless another one has happened since this one was begun.
 */
export type SendResult =
  | { readonly kind: "happened" | "failed" | "edge-fails" }
  | { readonly kind: "broken"; readonly error: unknown };

export function beginPass(handled: HandledPurges): DrainPass {
  return {
    handled,
    leaseId: "",
    leaseEndsAt: 0,
    left: [],
    underWay: new Map(),
    happened: 0,
    held: new Set(),
    stop: null,
  };
}

/** How long a lease lasts: whole milliseconds. `deadlineMs` is the longest time for one attempt. */
export function leaseMs(deadlineMs: number): number {
  return Math.ceil(LEASE_DEADLINES * deadlineMs);
}

/** `now` is by the clock of this process. Nothing more is sent or claimed once the outbox `isClosing`. */
export function nextStep(
  { handled: { sent, failed, dead }, leaseEndsAt, left, underWay, held, stop }: DrainPass,
  { now, deadlineMs, isClosing }: { readonly now: number; readonly deadlineMs: number; readonly isClosing: boolean },
): DrainStep {
  const maySend = stop === null && !isClosing && leaseEndsAt - now >= deadlineMs;
  const free = maySend ? SENT_AT_ONCE - underWay.size : 0;
  const rows = free > 0 ? nextToSend(left, [...held, ...[...underWay.keys()].flatMap(orderedItems)], free) : [];
  if (rows.length > 0) return { kind: "send", rows };
  if (underWay.size > 0) return { kind: "wait" };
  if (left.length > 0) return { kind: "release", rows: left };
  switch (stop?.because) {
    case "broken":
      return { kind: "throw", error: stop.error };
    case "nothing-due":
      return { kind: "end", nextDueInMs: stop.nextDueInMs };
    case "edge-fails": {
      const nextDueInMs = failed.length > 0 ? Math.min(...failed.map(({ dueInMs }) => dueInMs)) : PAUSE_AFTER_DEATH_MS;
      return { kind: "end", nextDueInMs };
    }
  }
  const limit = Math.min(CLAIMED_ROWS, MAX_ROWS - (sent.length + failed.length + dead.length));
  if (isClosing) return { kind: "end", nextDueInMs: null };
  return limit <= 0 ? { kind: "end", nextDueInMs: 0 } : { kind: "claim", limit };
}

/** After a claim at `now` by the store's clock, with a lease that ends at `leaseEndsAt` by that of this process. */
export function afterClaim(
  pass: DrainPass,
  { rows, nextAt }: StoreClaims,
  { now, leaseId, leaseEndsAt }: { readonly now: number; readonly leaseId: string; readonly leaseEndsAt: number },
): DrainPass {
  const nextDueInMs = nextAt === null ? null : Math.max(0, nextAt - now);
  const stop: Stop | null = rows.length === 0 ? { because: "nothing-due", nextDueInMs } : null;
  return { ...pass, leaseId, leaseEndsAt, left: rows, held: new Set(), stop };
}

/** After sending rows has begun. */
export function afterBegin(pass: DrainPass, rows: readonly WaitingRow[]): DrainPass {
  const underWay = new Map(pass.underWay);
  for (const row of rows) underWay.set(row, pass.happened);
  return { ...pass, left: pass.left.filter((row) => !underWay.has(row)), underWay };
}

/** After one of the rows under way has ended. */
export function afterSending(pass: DrainPass, row: WaitingRow, result: SendResult): DrainPass {
  const underWay = new Map(pass.underWay);
  underWay.delete(row);
  const held = new Set(pass.held);
  if (result.kind !== "happened") for (const item of orderedItems(row)) held.add(item);
  const happened = pass.happened + (result.kind === "happened" ? 1 : 0);
  return { ...pass, underWay, happened, held, stop: stopAfter(pass, row, result) };
}

function stopAfter({ stop, underWay, happened }: DrainPass, row: WaitingRow, result: SendResult): Stop | null {
  if (stop?.because === "broken") return stop;
  switch (result.kind) {
    case "broken":
      return { because: "broken", error: result.error };
    case "edge-fails":
      return underWay.get(row) === happened ? { because: "edge-fails" } : stop;
    case "happened":
      return null;
    case "failed":
      return stop;
  }
}

/** After the rest of a lease was given back, or could not be because of a database error. */
export function afterRelease(pass: DrainPass, failure: { readonly error: unknown } | null): DrainPass {
  const isFirst = failure !== null && pass.stop?.because !== "broken";
  return { ...pass, left: [], stop: isFirst ? { because: "broken", error: failure.error } : pass.stop };
}
