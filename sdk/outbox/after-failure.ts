import { isBlocked } from "../errors.ts";
import type { PurgeRequest } from "../purge-request.ts";

const FIRST_PAUSE_MS = 1_000;
/**
 * Also the longest `Retry-After` that counts: the edge may be well long before, and purges with a common item wait for
 * the first one's pause.
 */
export const MAX_PAUSE_MS = 60_000;

/** Whether a purge is tried again after a failure, and when (epoch milliseconds). */
export type AfterFailure =
  | { readonly kind: "retry"; readonly dueAt: number }
  /** `refused`: the edge will never accept this request. `attempts`: all attempts are used up. */
  | { readonly kind: "dead"; readonly because: "refused" | "attempts" };

/** `failures` counts the failures, this one included. `random` is from 0 up to 1. */
export function afterFailure(
  error: unknown,
  { failures, maxAttempts, now, random }: { failures: number; maxAttempts: number; now: number; random: number },
): AfterFailure {
  if (isRefused(error)) return { kind: "dead", because: "refused" };
  if (failures >= maxAttempts) return { kind: "dead", because: "attempts" };
  const askedForMs = Math.min(MAX_PAUSE_MS, retryAfterMsOf(error));
  return { kind: "retry", dueAt: now + Math.max(backOffMs(failures, random), askedForMs) };
}

/**
 * Milliseconds to wait after this many failures. They double from a second to a minute, and half of each is random, so that
 * purges that failed together do not come back together.
 */
export function backOffMs(failures: number, random: number): number {
  const ceilingMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return Math.ceil(ceilingMs * (0.5 + random / 2));
}

/** What has failed, as far as the error says it. */
export type FailureScope =
  /** Only this purge. */
  | "purge"
  /** The same, for what it names: a firewall blocks it, perhaps for as long as it is sent. */
  | "blocked"
  /** The edge or the connection: others would also fail, so sending them now is useless. */
  | "edge"
  /** One edge of several, while another has accepted the purge. */
  | "some-edges"
  /** Its `refresh`: the purge has probably happened, but its pages took longer than the deadline. */
  | "refresh";

/** `refresh` is that of the request that was sent. */
export function failureScope(error: unknown, { refresh }: PurgeRequest): FailureScope {
  const { receipts, attempts } = Object(error) as { receipts?: unknown; attempts?: unknown };
  if (Array.isArray(receipts) && receipts.length > 0) return "some-edges";
  const code = codeOf(error);
  if (code === "timeout" && attempts === 0) return "purge"; // it waited behind others, and was never sent
  if (code === "timeout" && refresh) return "refresh";
  if (isBlocked(Object(error))) return "blocked";
  return typeof code === "string" && !isRefused(error) ? "edge" : "purge";
}

/** The codes of refusals that the same request will always get. */
const REFUSALS: readonly unknown[] = ["invalid", "too-large", "unsupported-media-type", "conflict"];

/**
 * A wrong token and the like are not among them, because they end when the settings are corrected. Errors are
 * recognized by their `code`, because a backend can load the package's classes twice, as ES modules and as CommonJS.
 */
function isRefused(error: unknown): boolean {
  // A purge of several edges has the code of its first failure, but another edge may still accept it.
  const { failures } = Object(error) as { failures?: readonly { readonly error: unknown }[] };
  if (Array.isArray(failures) && failures.length > 0) return failures.every((failure) => isRefused(failure?.error));
  return REFUSALS.includes(codeOf(error));
}

/** The `code` of a `PurgeError`. Other errors may also have a `code`, but do not say whether they are retryable. */
function codeOf(error: unknown): unknown {
  const { code, retryable } = Object(error) as { code?: unknown; retryable?: unknown };
  return typeof retryable === "boolean" ? code : undefined;
}

function retryAfterMsOf(error: unknown): number {
  const { retryAfterMs } = Object(error) as { retryAfterMs?: unknown };
  return typeof retryAfterMs === "number" ? retryAfterMs : 0;
}
