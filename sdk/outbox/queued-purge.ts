import type { PurgeRequest } from "../purge-request.ts";
import type { FailureScope } from "./after-failure.ts";

/** A request with the `id` that makes it happen once, however often it is sent. */
export type IdentifiedRequest = PurgeRequest & { readonly id: string };

/** A purge in the outbox, as `list` shows it. Instants are epoch milliseconds. */
export interface QueuedPurge {
  readonly id: string;
  readonly request: IdentifiedRequest;
  /** `"waiting"`: it is being sent or will be. `"dead"`: it was given up, and `requeue` gives it another chance. */
  readonly state: "waiting" | "dead";
  /** How often sending it has failed. */
  readonly failures: number;
  /** The message of the last failure; `null` if there was none. */
  readonly lastError: string | null;
  readonly enqueuedAt: number;
  /** Not tried again before this instant; 0 for at once. */
  readonly dueAt: number;
  /** When it was given up; `null` if it was not. */
  readonly deadAt: number | null;
}

/** The parts of a waiting purge's row that claiming and sending need. Instants are epoch milliseconds. */
export interface WaitingRow {
  /** The number in the order of writing. */
  readonly seq: number;
  readonly request: IdentifiedRequest;
  readonly failures: number;
  /** That of the last failure; `null` if there was none. */
  readonly failureScope: FailureScope | null;
  readonly dueAt: number;
  /** Until then a process is sending it; 0 if none is. */
  readonly leaseUntil: number;
}

/** Whether one of several edges has accepted the row's purge, and another has not. */
export function isHalfAccepted({ failureScope }: Pick<WaitingRow, "failureScope">): boolean {
  return failureScope === "some-edges";
}

/**
 * Every item of a row's request, with its kind. Two purges with a common item keep their order, unless one of several
 * edges has accepted the earlier one, or a firewall blocks it: otherwise an edge that fails would hold up purges at the
 * others, and a purge that never passes would hold up those behind it for hours.
 */
export function orderedItems(row: Pick<WaitingRow, "request" | "failureScope">): string[] {
  return isHalfAccepted(row) || row.failureScope === "blocked" ? [] : itemsWithKinds(row.request);
}

function itemsWithKinds({ urls, tags, prefixes, hosts, everything }: PurgeRequest): string[] {
  const lists = { url: urls, tag: tags, prefix: prefixes, host: hosts };
  const items = Object.entries(lists).flatMap(([kind, list = []]) => list.map((item) => `${kind} ${item}`));
  return everything ? [...items, "everything"] : items;
}

/**
 * Refuses a purge whose id another one has in the table: the text `held`. Under one id the edge accepts the same items in
 * the same mode.
 */
export function refuseAnother(purge: IdentifiedRequest, held: unknown): void {
  if (contentOf(purge) === contentOf(JSON.parse(String(held)))) return;
  throw new TypeError(
    `enqueue: id: the outbox has another purge with the id ${JSON.stringify(purge.id)}. Use each id for one purge only, or leave it out.`,
  );
}

function contentOf(request: PurgeRequest): string {
  return JSON.stringify([request.mode ?? "hard", ...new Set(itemsWithKinds(request).sort())]);
}

/** A row of the table as both databases return it, with large numbers in each database's form. */
export interface TableRow {
  readonly seq: unknown;
  readonly id: unknown;
  readonly request: unknown;
  readonly failures: unknown;
  readonly failure_scope: unknown;
  readonly due_at: unknown;
  readonly lease_until: unknown;
  readonly last_error: unknown;
  readonly enqueued_at: unknown;
  readonly dead_at: unknown;
}

/**
 * The assignments that make a purge due at once, or after an attempt under way, with all its attempts again: without the
 * lease's id, the failure of that attempt does not count.
 */
export const REQUEUED = "failures = 0, due_at = 0, lease_id = NULL, dead_at = NULL";

/** Writes a purge, or requeues the one that has its id and text. Returns no row if the id has another text. */
export function writePurge(id: string, request: string): string {
  return `INSERT INTO tidemark_outbox (id, request) VALUES (${id}, ${request})
    ON CONFLICT (id) DO UPDATE SET ${REQUEUED} WHERE tidemark_outbox.request = excluded.request RETURNING request`;
}

/** The text of the purge that has an id. */
export function heldPurge(id: string): string {
  return `SELECT request FROM tidemark_outbox WHERE id = ${id}`;
}

/** The columns that a `WaitingRow` is made of. */
export const WAITING_COLUMNS = "seq, request, failures, failure_scope, due_at, lease_until";

/** The columns that a `QueuedPurge` is made of. */
export const LISTED_COLUMNS = "id, request, failures, due_at, last_error, enqueued_at, dead_at";

export function toWaitingRow(row: TableRow): WaitingRow {
  return {
    seq: Number(row.seq),
    request: JSON.parse(String(row.request)),
    failures: Number(row.failures),
    failureScope: row.failure_scope as FailureScope | null,
    dueAt: Number(row.due_at),
    leaseUntil: Number(row.lease_until),
  };
}

export function toQueuedPurge(row: TableRow): QueuedPurge {
  return {
    id: String(row.id),
    request: JSON.parse(String(row.request)),
    state: row.dead_at === null ? "waiting" : "dead",
    failures: Number(row.failures),
    lastError: row.last_error === null ? null : String(row.last_error),
    enqueuedAt: Number(row.enqueued_at),
    dueAt: Number(row.due_at),
    deadAt: row.dead_at === null ? null : Number(row.dead_at),
  };
}
