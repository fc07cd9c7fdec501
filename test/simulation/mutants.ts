import type { Mutants } from "../mutants/mutant.ts";
import { mutants as purgeProtocol } from "../scenarios/purge-protocol/mutants.ts";
import { relayMutants } from "./relay-mutants.ts";

const JUDGE = "worker/rules/freshness/judge.ts";
const LOG = "worker/purges/log/sql-purge-log.ts";
const VIEW = "worker/purges/view/purge-view.ts";
const LEASED_VIEW = "worker/purges/lease/leased-view.ts";
const LEASE_TIMING = "worker/purges/lease/lease-timing.ts";
const RENEWAL = "worker/purges/lease/renewal.ts";
const VIEW_LEASE = "worker/purges/lease/view-lease.ts";
const KEPT_VIEW = "worker/purges/lease/kept-view.ts";
const LEASE_BOOK = "worker/purges/log/lease-book.ts";
const CONNECTED_LOG = "worker/purges/log/connected-log.ts";

/** Stamps a background fetch with the view of whatever time the stamp is read. */
const STAMPED_LATE = `ports: { ...ports, purges: new Proxy(ports.purges, { get: (purges, name) => {
      const late = { get logId() { return purges.stamp()?.logId; }, get seq() { return purges.stamp()?.seq; } };
      if (name === "stamp") return () => late;
      return typeof purges[name] === "function" ? purges[name].bind(purges) : purges[name];
    } }), reporter`;

/** Rules that mutants of purge-protocol break, too, for scenarios to find. */
const ALSO_IN_SCENARIOS = [
  "r1-stamp-of-the-arrival",
  "r2-stamp-of-the-304",
  "r5-follower-takes-anything",
  "r7-no-allowance",
  "r9-bearer-gets-the-stale",
  "r12-newcomer-hears-nothing",
  "r15-told-before-it-is-sent",
  "r15-lost-answer-is-a-failure",
  "r15-second-change-is-forgotten",
  "r16-news-do-not-count",
  "r17-304-takes-tags",
  "r18-silence-is-no-objection",
  "r19-follower-takes-another-variant",
  "r20-caller-does-not-hear",
  "r20-no-repeat",
  "r22-renewed-all-the-time",
  "r23-overtaken-is-kept",
  "r24-gap-is-confirmed",
  "r24-push-is-not-taken-in",
  "r24-push-extends-the-lease",
  "r24-push-of-any-log",
  "r8-newcomer-serves-for-a-lease",
  "r25-nameless-readers-do-not-count",
  "r25-unknown-use-does-not-count",
];

/** Mutants of the rules of docs/protocol.md, for the random worlds to find. A name begins with its rule's number. */
export const mutants: Mutants = {
  "r3-what-is-in-memory-is-freshened": {
    name: "a 304 freshens the page that is in memory when it arrives, whichever was validated",
    file: "worker/flow/storing/freshening.ts",
    from: "if (!confirms(named, validatorsOf(head))) return null;",
    to: `const inMemory = context.ports.store.recall(head.key);
  if (inMemory && "body" in inMemory) ({ head, body } = inMemory);`,
    foundBy: "simulation",
  },
  "r22-shared-view-of-any-age": {
    name: "a shared view is taken, however old it is, and a lease begins then",
    file: LEASED_VIEW,
    from: `    if (now >= startedAt + delta.leaseMs) return false; // the age of a copy counts against its lease
    if (!this.#view.apply(delta)) return false; // it does not connect to the view (R12)
    this.#recent = mergeRecent(this.#recent, delta);
    this.#extendLease(startedAt, delta.leaseMs);`,
    to: `    if (!this.#view.apply(delta)) return false;
    this.#recent = mergeRecent(this.#recent, delta);
    this.#extendLease(now, delta.leaseMs);`,
    foundBy: "simulation",
  },
  "r22-shared-view-from-the-reply": {
    name: "a shared view gives the time of its reply as the beginning of its read",
    file: LEASED_VIEW,
    from: "return { startedAt, longestViewAgeMs: this.#timing.longestViewAgeMs,",
    to: "return { startedAt: startedAt && this.#clock.now(), longestViewAgeMs: this.#timing.longestViewAgeMs,",
    foundBy: "simulation",
  },
  "r11-shared-view-replaces-the-table": {
    name: "a shared view replaces what is known",
    file: VIEW,
    from: "    if (!isOfThisLog) this.#begin();",
    to: "    if (!isOfThisLog) this.#begin();\n    else {\n      this.#table = this.#emptyTable();\n      this.#generation++;\n    }",
    foundBy: "simulation",
  },
  "r12-shared-view-has-a-gap": {
    name: "a shared view has the last purges, and claims to have all since the first",
    file: "worker/purges/lease/recent-purges.ts",
    from: "const items = base ? concat(news, base.items) : news;",
    to: "const items = news;",
    foundBy: "simulation",
  },
  ...Object.fromEntries(
    ALSO_IN_SCENARIOS.map((name) => {
      const { file, from, to, ...mutant } = purgeProtocol[name]!;
      return [name, { name: mutant.name, file, from, to, foundBy: "simulation" }];
    }),
  ),
  "r1-background-refresh-is-stamped-late": {
    name: "a background refresh is stamped with the view that is held when it ends",
    file: "worker/flow/storing/background-refresh.ts",
    from: "ports: { ...ports, reporter",
    to: STAMPED_LATE,
    foundBy: "simulation",
  },
  "r1-no-stamp-is-no-purge": {
    name: "an entry without a stamp is not purged",
    file: VIEW,
    from: "if (stamp === null || stamp.logId",
    to: "if (stamp === null) return false;\n    if (stamp.logId",
    foundBy: "simulation",
  },
  "r4-memory-is-not-checked": {
    name: "an entry in memory is served without a check for purges",
    file: "worker/flow/looking-up.ts",
    from: "judgeBy(context, remembered.head, purges.check(remembered.head, isUsable), token, now)",
    to: 'judgeBy(context, remembered.head, "not-purged", token, now)',
    foundBy: "simulation",
  },
  "r4-head-is-not-checked": {
    name: "a HEAD is answered from memory without a check for purges",
    file: "worker/flow/looking-up.ts",
    from: "judgeBy(context, remembered.head, purges.check(remembered.head, isUsable), token, now)",
    to: 'judgeBy(context, remembered.head, context.facts.method === "HEAD" ? "not-purged" : purges.check(remembered.head, isUsable), token, now)',
    foundBy: "simulation",
  },
  "r4-any-view-judges": {
    name: "an entry is judged by a view whose lease is over",
    file: "worker/flow/judging.ts",
    from: "purges.check(stored, isUsable)",
    to: "purges.check(stored, true)",
    foundBy: "simulation",
  },
  "r6-receipt-forgets-the-leases": {
    name: "a receipt settles without waiting for the leases that are held",
    file: LOG,
    from: "this.#leases.longestLivingMs(now) + purge.skewMs",
    to: "purge.skewMs",
    foundBy: "simulation",
  },
  "r6-lease-from-the-reply": {
    name: "a lease counts from the reply of the log, not from the request",
    file: LEASE_TIMING,
    from: "const usableUntil = startedAt + leaseMs",
    to: "const usableUntil = now + leaseMs",
    foundBy: "simulation",
  },
  "r8-known-purge-needs-a-view": {
    name: "while the log is silent, a page that is known to be purged counts as unknown",
    file: VIEW,
    from: 'if (answer === "not-purged") return "unknown";',
    to: 'return "unknown";',
    foundBy: "simulation",
  },
  "r8-unknown-is-fresh": {
    name: "while the log is silent, a stored page is served until its lifetime ends",
    file: "worker/rules/freshness/unknown-purge-state.ts",
    from: "return !awaitsToken && sinceFetchMs >= 0 && sinceFetchMs < maxViewAgeMs;",
    to: "return !awaitsToken;",
    foundBy: "simulation",
  },
  "r9-older-read-proves": {
    name: "a read that began before a token arrived proves the token false",
    file: VIEW_LEASE,
    from: "await this.#renewal.waitFor(underWay);",
    to: "if (await this.#renewal.waitFor(underWay)) return true;",
    foundBy: "simulation",
  },
  "r9-childs-position-may-prove-false": {
    name: "the position of a child counts for nothing if the log knows of no such number",
    file: VIEW_LEASE,
    from: "return this.#leased.hasReached(token) ? null : token;",
    to: "return null;",
    foundBy: "simulation",
  },
  "r9-parent-is-not-told": {
    name: "a child tells its parent a position that every view has reached",
    file: "server/parent/parent-origin.ts",
    from: "const after = writePosition(request.after ?? null);",
    to: "const after = writePosition(request.after ? { ...request.after, seq: 0 } : null);",
    foundBy: "simulation",
  },
  "r9-parent-hears-of-no-token": {
    name: "a child that does not reach its log tells its parent nothing of the token of a request",
    file: "worker/flow/origin/ask-origin.ts",
    from: "? position : token;",
    to: "? position : position;",
    foundBy: "simulation",
  },
  "r8-child-counts-from-its-own-fetch": {
    name: "while the log is silent, a child serves what its parent had stored for a lease after its own fetch",
    file: "worker/flow/storing/storage-decision.ts",
    from: "fetchedAt: fetchedAt - (parentAge?.fetchedBeforeMs ?? 0),",
    to: "fetchedAt,",
    foundBy: "simulation",
  },
  "r17-parents-copy-confirms-what-was-purged": {
    name: "a parent's copy with other tags confirms a child's page that was purged by its tag",
    file: "worker/flow/storing/freshening.ts",
    from: 'if (isByOlderCopy && context.ports.purges.check(head, asIfUsable) !== "not-purged") return null;',
    to: "",
    foundBy: "simulation",
  },
  "r10-soft-forgives-hard": {
    name: "a soft purge after a hard one makes a purged page usable",
    file: VIEW,
    from: '["hard", "purged"],\n  ["invalidate", "invalidated"],\n  ["soft", "soft"],',
    to: '["soft", "soft"],\n  ["invalidate", "invalidated"],\n  ["hard", "purged"],',
    foundBy: "simulation",
  },
  "r10-soft-has-no-end": {
    name: "a softly purged page is usable for as long as its own rules say",
    file: JUDGE,
    from: "return now - seenAt < (ownMs > 0 ? ownMs : forMs) && ",
    to: "return ",
    foundBy: "simulation",
  },
  "r11-replaced-log-answers-late": {
    name: "a late reply of a log that was replaced brings that log back",
    file: LEASED_VIEW,
    from: "number <= this.#callsBeforeView",
    to: "number < 0",
    foundBy: "simulation",
  },
  "r12-untold-counts-as-told": {
    name: "purges for which a reply had no room count as told",
    file: VIEW,
    from: "this.#unread = unreadAfter(this.#unread, seq, delta);",
    to: "",
    foundBy: "simulation",
  },
  "r13-another-logs-numbers-count": {
    name: "an entry of another log is judged by its number",
    file: VIEW,
    from: "stamp.logId !== logId || ",
    to: "",
    foundBy: "simulation",
  },
  "r13-every-log-has-one-id": {
    name: "a log that is made anew has the id of the one before",
    file: LOG,
    from: "#beginAnew(id = this.#newId())",
    to: '#beginAnew(id = "log-1")',
    foundBy: "simulation",
  },
  "r13-forgotten-without-a-floor": {
    name: "the log forgets purges without raising its floor",
    file: LOG,
    from: 'SET floor = max(floor, ?), keys = keys - ?", seq, forgotten',
    to: 'SET keys = keys - ?", forgotten',
    foundBy: "simulation",
  },
  "r14-read-from-memory": {
    name: "the log answers from what it remembers of its state",
    file: LOG,
    from: "floor, hard, soft, invalidate } = this.#state();",
    to: "floor, hard, soft, invalidate } = (this.seen = this.#now() < this.seen?.at + 300 ? this.seen : { ...this.#state(), at: this.#now() });",
    foundBy: "simulation",
  },
  "r21-waiter-has-no-timer": {
    name: "a request waits for the log until it answers",
    file: RENEWAL,
    from: "reading.hasSucceeded, tooSlow)",
    to: "reading.hasSucceeded, () => (tooSlow(), new Promise<boolean>(() => undefined)))",
    foundBy: "simulation",
  },
  "r8-forgotten-isolate-serves-for-a-lease": {
    name: "an isolate with a name serves what it has fetched for a lease, however long the log has been silent",
    file: VIEW_LEASE,
    from: "const isRemembered = ",
    to: "const isRemembered = this.name !== undefined || ",
    foundBy: "simulation",
  },
  "r25-unreachable-counts-as-confirmed": {
    name: "a reader that a push does not reach counts as having confirmed it",
    file: CONNECTED_LOG,
    from: "if (hasReached === null) return this.disconnect(connection);",
    to: "if (hasReached === null) this.#confirm(connection, { logId: delta.logId, seq: delta.to });",
    foundBy: "simulation",
  },
  "r25-restarted-log-knows-no-lease": {
    name: "a log that has restarted does not wait for the leases that it granted before",
    file: LEASE_BOOK,
    from: "this.#startedAt + Math.max(longestMs, this.#rememberedMs)",
    to: "now",
    foundBy: "simulation",
  },
  "r25-read-is-not-in-the-book": {
    name: "the log does not know of the lease that it grants to a reader with a name by a read without a connection",
    file: LOG,
    from: "if (reader !== undefined && leaseMs > 0) {",
    to: "if (by !== undefined) {",
    foundBy: "simulation",
  },
  "r25-lease-is-kept-after-its-release": {
    name: "an isolate tells the log that it has given up its lease, and goes on using it",
    file: KEPT_VIEW,
    from: "leased.giveUp(); // so that no receipt has to wait for an isolate that nobody can tell",
    to: "",
    foundBy: "simulation",
  },
  "r25-another-id-and-no-day": {
    name: "a log whose numbers have run out does not count with readers of its former id",
    file: LOG,
    from: "      id,\n    );\n    this.#leases.noteNameless(this.#now());",
    to: "      id,\n    );",
    foundBy: "simulation",
  },
  "r25-purge-grants-a-lease": {
    name: "the reply to a purge grants a lease that is not in the book",
    file: LOG,
    from: "reader === undefined ? purge.leaseMs : 0",
    to: "purge.leaseMs",
    foundBy: "simulation",
  },
  "r25-another-logs-number-is-confirmed": {
    name: "a reader confirms purges of a new log by its number of the old one",
    file: LEASE_BOOK,
    from: "if (logId !== this.#logId || holder === undefined",
    to: "if (holder === undefined",
    foundBy: "simulation",
  },
  "r25-released-over-any-connection": {
    name: "a lease is given up by a message over an older connection than the one that granted it",
    file: LEASE_BOOK,
    from: "if (this.#holders.get(reader)?.lastBy !== by) return [];",
    to: "",
    foundBy: "simulation",
  },
  "r25-holder-counts-for-its-lease": {
    name: "the log counts with an isolate with a name for as long as its lease, and no longer",
    file: LEASE_BOOK,
    from: "const until = now + Math.max(useMs, this.#rememberedMs);",
    to: "const until = now + useMs;",
    foundBy: "simulation",
  },
  "r25-new-log-has-no-nameless-readers": {
    name: "a log that was made anew does not count with readers without a name of the log before",
    file: "worker/purges/log/granted-leases.ts",
    from: "longest === null ? now :",
    to: "longest === null ? 0 :",
    foundBy: "simulation",
  },
  "r25-copy-of-a-reader-with-a-name": {
    name: "an isolate with a name leaves a copy of what it has read, for isolates that never confirm",
    file: RENEWAL,
    from: "const isShared = name === undefined;",
    to: "const isShared = true;",
    foundBy: "simulation",
  },
  "r25-late-reply-brings-the-lease-back": {
    name: "a late reply to an earlier call brings back a lease that was given up",
    file: LEASED_VIEW,
    from: "    this.#timing.giveUp();\n    this.#callsInDoubt = this.#callsBegun;",
    to: "    this.#timing.giveUp();",
    foundBy: "simulation",
  },
  "r8-lease-after-giving-up": {
    name: "an isolate that has given up its lease serves what it has fetched for a lease",
    file: LEASE_TIMING,
    from: "    this.end();\n    this.#readAt = NEVER;",
    to: "    this.end();",
    foundBy: "simulation",
  },
  "r26-full-log-leaves-the-lease": {
    name: "an isolate that goes on without a name keeps what the log has granted under it",
    file: VIEW_LEASE,
    from: "    this.#leased.giveUp();\n    this.#name = undefined;",
    to: "    this.#name = undefined;",
    foundBy: "simulation",
  },
  "r26-lease-from-the-reply": {
    name: "a lease that is renewed over a connection counts from the reply",
    file: KEPT_VIEW,
    from: "reply.then((delta) => this.#take(delta, call))",
    to: "reply.then((delta) => this.#take(delta, leased.beginCall()))",
    foundBy: "simulation",
  },
  ...relayMutants,
};
