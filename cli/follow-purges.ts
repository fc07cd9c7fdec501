import { textWithoutCall } from "../sdk/errors.ts";
import { PurgeError, type PurgeRecord, type Purger } from "../sdk/index.ts";
import { MAX_LISTED_PURGES } from "../wire/purge-record-query.ts";
import { hasPaused } from "./interruption.ts";

export interface FollowOptions {
  /** How many of the purges before the start are reported. */
  readonly latest: number;
  readonly everyMs: number;
  readonly signal: AbortSignal;
  /** Receives new purges, the oldest first. */
  onPurges(purges: readonly PurgeRecord[]): void;
  /** Receives a line for the person at the terminal. */
  onNote(note: string): void;
}

/** The newest purge that was seen. */
type Latest = Pick<PurgeRecord, "seq" | "at">;

const NONE: Latest = { seq: 0, at: new Date(0).toISOString() };

/**
 * Reports each purge once, in the order of their numbers, until the signal is aborted. If the edge does not answer for
 * a while, it is asked again, and the purges that it accepted meanwhile are reported then. Rejects if the first request
 * fails, or if the edge refuses.
 */
export async function followPurges(purger: Purger, options: FollowOptions): Promise<void> {
  const { latest, everyMs, signal, onPurges, onNote } = options;
  let { purges } = await purger.purges({ limit: latest, signal });
  let last: Latest = purges[0] ?? NONE;
  onPurges(purges.toReversed());
  let isAway = false;
  while (await hasPaused(everyMs, signal)) {
    try {
      const [newest = NONE] = (await purger.purges({ limit: 1, signal })).purges;
      const isSame = newest.seq === last.seq && newest.at === last.at;
      purges = isSame ? [] : await purgesFrom(last.seq, purger, signal);
      if (newest.seq < last.seq || purges.some(({ seq, at }) => seq === last.seq && at !== last.at)) {
        onNote("The edge has a new purge log, or an older copy of the same. Numbers are given out again.");
        const since = Date.parse(last.at);
        purges = (await purgesFrom(0, purger, signal)).filter(({ at }) => Date.parse(at) >= since);
        last = newest;
      } else purges = purges.filter(({ seq }) => seq > last.seq);
      if (isAway) onNote("The edge answers again.");
      isAway = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof PurgeError && error.retryable)) throw error;
      if (!isAway) onNote(`${textWithoutCall(error)} The command keeps trying.`);
      isAway = true;
      continue;
    }
    if (purges.length === 0) continue;
    last = purges[0]!;
    onPurges(purges.toReversed());
  }
}

/** The purges with this number or a higher one, the newest first. */
async function purgesFrom(seq: number, purger: Purger, signal: AbortSignal): Promise<PurgeRecord[]> {
  const found: PurgeRecord[] = [];
  let before: number | undefined;
  for (;;) {
    const { purges, next } = await purger.purges({ before, limit: MAX_LISTED_PURGES, signal });
    found.push(...purges.filter((purge) => purge.seq >= seq));
    if (next === null || next <= seq) return found;
    before = next;
  }
}
