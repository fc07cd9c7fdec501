import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";

/** Connections that are opened within this time share one lookup. Milliseconds. */
const SHARED_MS = 1_000;

/** A lookup that takes longer gives way to the last answer, and is not waited for any more. RFC 8767 §5. */
const PATIENCE_MS = 1_000;

/** While DNS is out of order, the last answer is used for a day. RFC 8767 §5. */
const KEPT_MS = 24 * 60 * 60_000;

/** What DNS says of a name that does not exist, which is no failure of DNS. */
const NO_SUCH_NAME = "ENOTFOUND";

type Answer = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void;

/**
 * The lookups of one name, at most one at a time. Each connection's own would wait for two of libuv's threads, and fail with
 * one lost packet. `now`: milliseconds that are never set back. `inOrder`: which addresses each connection tries first.
 */
export function sharedLookup(
  lookup: LookupFunction,
  now: () => number,
  inOrder: (found: readonly LookupAddress[]) => readonly LookupAddress[] = (found) => found,
): LookupFunction {
  let known: readonly LookupAddress[] = [];
  let knownAt = Number.NEGATIVE_INFINITY;
  const waiting: Answer[] = [];
  let isAsking = false;
  let isSlow = false;
  const isYoungerThan = (ms: number) => now() - knownAt < ms;
  const tell: Answer = (...outcome) => {
    for (const answer of waiting.splice(0)) answer(...outcome);
  };
  return (name, options, done) => {
    const answer: Answer = (error, found) => {
      const addresses = inOrder(found);
      if (options.all) done(error, [...addresses]);
      else done(error, addresses[0]?.address ?? "", addresses[0]?.family);
    };
    if (isYoungerThan(isSlow ? KEPT_MS : SHARED_MS)) return process.nextTick(answer, null, known);
    waiting.push(answer);
    if (isAsking) return;
    isAsking = true;
    const patience = setTimeout(() => {
      isSlow = true;
      if (isYoungerThan(KEPT_MS)) tell(null, known);
    }, PATIENCE_MS);
    lookup(name, { ...options, all: true }, (error, addresses) => {
      clearTimeout(patience);
      isAsking = false;
      isSlow = false;
      if (!error) {
        known = addresses as LookupAddress[];
        knownAt = now();
      } else if (error.code === NO_SUCH_NAME) knownAt = Number.NEGATIVE_INFINITY;
      if (isYoungerThan(KEPT_MS)) tell(null, known);
      else tell(error, []);
    });
  };
}
