import * as z from "zod/mini";
import { WITH_VALUES, WITHOUT_VALUES } from "../check.ts";
import { MAX_SLEEP_MS } from "../clock.ts";
import { misuse } from "../errors.ts";
import { type PurgeDetails, type PurgeInput, type PurgeRequest, parseCall, tooManyBytes } from "../purge-request.ts";
import type { Receipt } from "../receipt.ts";
import type { DeadPurge } from "./drain-report.ts";
import type { IdentifiedRequest } from "./queued-purge.ts";

/** Sends the purges of an outbox: a `Purger`, or another object with its `purge`. */
export interface OutboxPurger<Answer = Receipt> {
  /** The request has its `id`. */
  purge(request: PurgeRequest, options: { deadlineMs: number }): Promise<Answer>;
}

/** The common options of the outboxes for all databases. */
export interface OutboxOptions<Answer = Receipt> {
  purger: OutboxPurger<Answer>;
  /**
   * How often sending a purge may fail before it is given up: a whole number from 1. The pauses between the attempts
   * double from a second to a minute, half of each is random, and 500 attempts take four to eight hours, 20 about
   * ten minutes. Default: 500.
   */
  maxAttempts?: number | undefined;
  /**
   * Milliseconds for one attempt, with the purger's own retries in it. If a process is killed while it sends, other
   * processes, or its next start, send its purges after three times as long. Default: 10000.
   */
  deadlineMs?: number | undefined;
  /**
   * The clock for pauses and leases, in epoch milliseconds; all processes with this table share it. It is for tests, and
   * for several machines whose clocks differ. Default: the system's clock in SQLite, the database's in PostgreSQL.
   */
  now?: (() => number) | undefined;
  /**
   * Called for each purge that is given up, after its row was updated. Nothing waits for a promise of it. Default: nothing is
   * called.
   */
  onDead?: ((purge: DeadPurge) => void) | undefined;
}

/** What `list` shows: all purges, or those of one state, the oldest first. */
export interface ListOptions {
  /** Default: both states. */
  state?: "waiting" | "dead" | undefined;
  /** At most this many: a whole number from 1. Default: 100. */
  limit?: number | undefined;
}

/** The options of a purge in the outbox: those of `purge`, except the ones for sending. */
export type EnqueueOptions = Omit<PurgeDetails, "dryRun">;

/** How an outbox is drained in the background. */
export interface StartOptions {
  /**
   * Called with the errors of the database and of callbacks; the outbox goes on. A failed purge is not such an error:
   * it is tried again, and `onDead` is called if it is given up.
   */
  onError: (error: unknown) => void;
  /**
   * Milliseconds after which it looks for purges that other processes left behind, even if none of its own is due: more
   * than 0. Default: 30000.
   */
  everyMs?: number | undefined;
}

export interface OutboxSettings<Answer> {
  readonly purger: OutboxPurger<Answer>;
  readonly maxAttempts: number;
  readonly deadlineMs: number;
  readonly onDead: (purge: DeadPurge) => void;
}

const aFunction = (doing: string) =>
  z.optional(z.custom<object>((value) => typeof value === "function", `must be a function ${doing}`));

const optionsSchema = z.strictObject({
  database: z.custom<object>(
    (value) => typeof value === "object" && value !== null,
    "must be a connection to the database",
  ),
  purger: z.custom<object>(
    (value) => typeof (value as { purge?: unknown } | null | undefined)?.purge === "function",
    "must be a purger, like createPurger() makes",
  ),
  maxAttempts: z.optional(z.int().check(z.minimum(1))),
  deadlineMs: z.optional(z.number().check(z.positive(), z.maximum(3_600_000))),
  now: aFunction("that returns epoch milliseconds"),
  onDead: aFunction("that takes a purge"),
});

const DEFAULT_MAX_ATTEMPTS = 500;
const DEFAULT_DEADLINE_MS = 10_000;

/** Checks the options of `createOutbox`. Throws a `TypeError`. */
export function parseOutboxOptions<Answer>(options: OutboxOptions<Answer>): OutboxSettings<Answer> {
  const parsed = optionsSchema.safeParse(options, WITHOUT_VALUES);
  if (!parsed.success) throw misuse("createOutbox", parsed.error, optionsSchema);
  const { purger, maxAttempts = DEFAULT_MAX_ATTEMPTS, deadlineMs = DEFAULT_DEADLINE_MS, onDead = () => {} } = options;
  return { purger, maxAttempts, deadlineMs, onDead };
}

const listSchema = z.strictObject({
  state: z.optional(z.enum(["waiting", "dead"], 'must be "waiting" or "dead"')),
  limit: z.optional(z.int().check(z.minimum(1))),
});

const DEFAULT_LISTED = 100;

export interface ListCall {
  readonly state: "waiting" | "dead" | undefined;
  readonly limit: number;
}

/** Checks a call of `list`. Throws a `TypeError`. */
export function parseListOptions(options: ListOptions = {}): ListCall {
  const parsed = listSchema.safeParse(options, WITH_VALUES);
  if (!parsed.success) throw misuse("list", parsed.error, listSchema);
  return { state: parsed.data.state, limit: parsed.data.limit ?? DEFAULT_LISTED };
}

const startSchema = z.strictObject({
  onError: z.custom<(error: unknown) => void>((value) => typeof value === "function", "must be a function"),
  everyMs: z.optional(z.number().check(z.positive(), z.maximum(MAX_SLEEP_MS))),
});

const DEFAULT_EVERY_MS = 30_000;

/** Checks a call of `start`. Throws a `TypeError`. */
export function parseStartOptions(
  options: StartOptions,
): Required<Pick<StartOptions, "onError">> & { everyMs: number } {
  const parsed = startSchema.safeParse(options, WITHOUT_VALUES);
  if (!parsed.success) throw misuse("start", parsed.error, startSchema);
  return { onError: parsed.data.onError, everyMs: parsed.data.everyMs ?? DEFAULT_EVERY_MS };
}

/** Checks a purge before it is written, and gives it an `id` if it has none. Throws a `TypeError`. */
export function parseEnqueue(
  input: PurgeInput,
  options: EnqueueOptions | undefined,
  newId: () => string,
): IdentifiedRequest {
  const { request, ...ofSending } = parseCall("enqueue", input, options);
  const [misplaced] = Object.entries(ofSending).find(([, value]) => value !== undefined) ?? [];
  if (misplaced !== undefined) {
    throw new TypeError(`enqueue: ${misplaced} is an option for calls that send, but enqueue sends nothing`);
  }
  if (request.dryRun)
    throw new TypeError("enqueue: dryRun: the outbox would send the dry run later, and nobody would see its answer");
  const purge = { ...request, id: request.id ?? newId() };
  const tooMany = tooManyBytes(purge);
  if (tooMany) throw new TypeError(`enqueue: ${tooMany}`);
  return purge;
}

/** Checks the ids of `requeue` and `discard`. Throws a `TypeError`. */
export function parseIds(call: string, ids: Iterable<string>): string[] {
  const list = typeof ids === "string" ? [ids] : [...(ids ?? [])];
  if (list.some((id) => typeof id !== "string")) throw new TypeError(`${call}: an id must be a string`);
  return [...new Set(list)];
}
