import type { Mutants } from "./mutant.ts";

const FLOW = "worker/flow/corridor.ts";
const LOG = "worker/purges/log/log.ts";
const VIEW = "worker/purges/view/view.ts";
const VIEW_LEASE = "worker/purges/lease/view-lease.ts";

const RECEIPT_SETTLES = { file: LOG, from: "this.#leases.longestLivingMs(now) + purge.skewMs" };

const OLDER_REPLACES = {
  file: VIEW,
  from: "} else if (delta.from > this.#seq) {",
  to: "} else if (delta.to < this.#seq) {\n      this.#begin(delta.logId);\n    } else if (delta.from > this.#seq) {",
};

/** What goes wrong in the stories of docs/protocol.md, each by its scenario. */
export const stories: Mutants = {
  "look-up-is-judged-as-of-before": {
    name: "what a look-up found is judged by the view and the time of when it began",
    file: FLOW,
    from: `  if (!purges.isUsable(clock.now(), token)) token = await purges.renew(background, token);
  const unusable: UnusableResponse[] = [];
  for (const stored of candidates(context, found)) {
    const verdict = judgeNow(context, stored.head, token, clock.now());`,
    to: `  const unusable: UnusableResponse[] = [];
  for (const stored of candidates(context, found)) {
    const verdict = judgeNow(context, stored.head, token, arrivedAt);`,
    reddens: "story 3: what a look-up finds that outlasts the lease is judged by a view of then, and not of before",
  },
  "token-of-any-log": {
    name: "a token is compared by its number with a view of whatever log",
    file: VIEW_LEASE,
    from: "position.logId === token.logId && position.seq",
    to: "position.seq",
    reddens:
      "story 5: the token of a new log is not honoured by a view of the old one, though that one's number is higher",
  },
  "known-silence-ends-tokens": {
    name: "a token counts for nothing once the log is known to be silent",
    file: VIEW_LEASE,
    from: "if (this.#clock.now() < this.#failedUntil) return token;",
    to: "if (this.#clock.now() < this.#failedUntil) return null;",
    reddens:
      "story 6: while the log is silent, what was just fetched is for everybody but the bearer of a purge's token",
  },
  "known-purge-is-unknown": {
    name: "with the log silent, what is known to be purged counts as unknown",
    file: VIEW,
    from: 'if (checked.answer === "not-purged") return "unknown";',
    to: 'return "unknown";',
    reddens: "story 8: who has lost the log serves what was just fetched, but not what he knew to be purged",
  },
  "left-out-counts-as-told": {
    name: "a copy that had no room for the oldest purges says that it tells them",
    file: "worker/purges/lease/rolling-window.ts",
    from: "return { ...rest, from: firstLeftOut,",
    to: "return { ...rest, from: base?.from ?? toldFrom,",
    reddens: "story 12: who has missed a purge does not go by what another isolate was told after it, but asks the log",
  },
  "older-reply-replaces-the-view": {
    name: "what comes late takes the place of what is known",
    ...OLDER_REPLACES,
    reddens: "story 13: an old reply of the log that lands late takes nothing back of what is known by then",
  },
  "older-copy-replaces-the-view": {
    name: "a copy that comes late takes the place of what is known",
    ...OLDER_REPLACES,
    reddens:
      "story 13: an old copy that lands late takes nothing back either, though the clock of who read it is ahead",
  },
  "copy-leads-to-another-log": {
    name: "a copy that another isolate has left leads to another log",
    file: VIEW_LEASE,
    from: "if (held !== null && held.logId !== delta.logId) return false;",
    to: "",
    reddens: "story 14: who has read a new log does not fall back to a late copy of the old one",
  },
  "first-view-stamps": {
    name: "what was fetched without a view is stamped with the first one that comes",
    file: "worker/flow/storing/storage-decision.ts",
    from: "stamp: response.stamp",
    to: "stamp: response.stamp ?? ports.purges.stamp()",
    reddens:
      "story 15: what a new isolate began to fetch before it had a view is not kept under the first one that comes",
  },
  "numbers-are-used-twice": {
    name: "a log whose storage went back in time goes on as the same one",
    file: LOG,
    from: "if (since?.logId === id && since.seq > head)",
    to: "if (false)",
    reddens: "story 16: when the log's storage goes back and a number is used twice, the second purge is heard of, too",
  },
  "log-goes-by-its-memory": {
    name: "an object of the log goes by what it remembers, as long as it has written nothing itself",
    file: LOG,
    from: "    this.#sql = sql;",
    to: `    let state: Record<string, unknown>[] | undefined;
    this.#sql = {
      ...sql,
      exec: (statement, ...bindings) => {
        if (statement === "SELECT * FROM state") return (state ??= sql.exec(statement));
        if (statement.startsWith("UPDATE state")) state = undefined;
        return sql.exec(statement, ...bindings);
      },
    };`,
    reddens:
      "story 17: an object of the log that does not know that another took its place tells what that one was told",
  },
  "receipt-counts-with-the-callers-lease": {
    name: "a receipt counts with the lease of who purges, and with nobody else's",
    ...RECEIPT_SETTLES,
    to: "purge.leaseMs + purge.skewMs",
    reddens:
      "story 18: after a deployment that shortens the lease, a receipt waits for isolates that still hold the longer one",
  },
  "receipt-trusts-every-clock": {
    name: "a receipt counts as if no clocks of a PoP differed",
    ...RECEIPT_SETTLES,
    to: "this.#leases.longestLivingMs(now)",
    reddens: "story 19: while clocks of a PoP differ by no more than the allowance, a receipt waits long enough",
  },
  "copy-begins-a-lease": {
    name: "a lease begins when a copy is taken, whenever its read began",
    file: VIEW_LEASE,
    from: 'this.#extendLease(startedAt, delta.leaseMs);\n    this.#reporter.report({ kind: "view-shared" });',
    to: 'this.#extendLease(now, delta.leaseMs);\n    this.#reporter.report({ kind: "view-shared" });',
    reddens:
      "story 19: where clocks of a PoP differ by more than the allowance, a purged page is served for so much longer, at most",
  },
  "found-is-stamped-anew": {
    name: "what comes into memory from the shared tier gets the number of the view that finds it",
    file: FLOW,
    from: "const found = await selectInSharedTier(context);",
    to: `const found = await selectInSharedTier(context);
  if (found && !selectInMemory(context)) Object.assign(found.head, { stamp: purges.stamp() });`,
    reddens: "story 22: what an isolate finds in the shared tier keeps the number under which it was fetched",
  },
  "equal-number-is-enough": {
    name: "the check is skipped where the number is the same",
    file: VIEW,
    from: `if (checked.generation !== this.#generation) {
      checked.answer = this.#ask(stored, checked);
      checked.generation = this.#generation;`,
    to: `if (checked.generation !== this.#seq) {
      checked.answer = this.#ask(stored, checked);
      checked.generation = this.#seq;`,
    reddens: "story 23: a page that was found fresh is checked anew when another log has come to the same number",
  },
  "everybody-asks-for-ever": {
    name: "once an answer was for one visitor alone, nobody waits for another's fetch any more",
    file: "worker/flow/collapsing/collapsed-fetches.ts",
    from: "until !== undefined && now < until",
    to: "until !== undefined",
    reddens:
      "story 27: an answer that is for one visitor alone has everybody ask for himself for five seconds, and no longer",
  },
  "pages-of-any-log": {
    name: "what another log stamped is judged by its number",
    file: VIEW,
    from: "stamp.logId !== this.#logId || ",
    to: "",
    reddens:
      "story 28: once the log is renamed, isolates of the old version show what is purged until they end, and no others",
  },
  "purge-is-dead-on-arrival": {
    name: "the reply to a purge brings the caller's view up to just before it",
    file: VIEW_LEASE,
    from: "if (this.absorb(delta, call)) await",
    to: "if (this.absorb({ ...delta, to: delta.to - 1 }, call)) await",
    reddens: "story 29: what a purge fetches anew is of use in the whole PoP, and not fetched once more",
  },
  "repeat-is-a-replay": {
    name: "the repeat of a purge with an id is taken for the same purge sent again",
    file: LOG,
    from: "this.#add(audited, hashes, now, this.#leases.longestLivingMs(now) + skewMs);",
    to: `if (!this.#audit.find((JSON.parse(purge) as AuditedPurge).id ?? "")) {
          this.#add(audited, hashes, now, this.#leases.longestLivingMs(now) + skewMs);
        }`,
    reddens: "story 30: a purge with an id is repeated all the same, and sent again it is still the first one",
  },
  "cancelled-read-is-waited-for": {
    name: "who waits for a read of the log waits until it ends",
    file: VIEW_LEASE,
    from: "Promise.race([reading.hasSucceeded, tooSlow])",
    to: "Promise.race([reading.hasSucceeded])",
    reddens:
      "story 31: when the request that renews the view is cancelled, those who wait for it go on after a lease, and renew it",
  },
  "cancelled-read-is-joined": {
    name: "no read of the log begins before the last one has ended",
    file: VIEW_LEASE,
    from: "return reading !== null && now - reading.startedAt < this.leaseMs;",
    to: "return reading !== null;",
    reddens:
      "story 31: when the request that renews the view is cancelled, those who wait for it go on after a lease, and renew it",
  },
  "late-answer-is-a-recovery": {
    name: "an answer of the log that comes when its lease is over ends what is remembered of the failure",
    file: VIEW_LEASE,
    from: "if (usableUntil > this.#clock.now()) {",
    to: "if (usableUntil > 0) {",
    reddens: "story 32: where the log takes more than a lease to answer, one who waits for it is enough",
  },
};
