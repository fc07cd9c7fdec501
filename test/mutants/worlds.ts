import type { Mutants } from "./mutant.ts";
import { protocol } from "./protocol.ts";

const FLOW = "worker/flow/corridor.ts";
const JUDGE = "worker/rules/freshness/judge.ts";
const LOG = "worker/purges/log/log.ts";
const VIEW = "worker/purges/view/view.ts";
const VIEW_LEASE = "worker/purges/lease/view-lease.ts";

/** Stamps what is fetched behind an answer with the view of whenever it is looked at. */
const STAMPED_LATE = `ports: { ...ports, purges: new Proxy(ports.purges, { get: (purges, name) => {
      const late = { get logId() { return purges.stamp()?.logId; }, get seq() { return purges.stamp()?.seq; } };
      if (name === "stamp") return () => late;
      return typeof purges[name] === "function" ? purges[name].bind(purges) : purges[name];
    } }), reporter`;

/** Rules that other mutants take away as well, which a scenario has to find. */
const ALSO_IN_SCENARIOS = [
  "r1-stamp-of-the-arrival",
  "r2-stamp-of-the-304",
  "r3-any-304-freshens-the-first",
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
];

/** Rules of docs/protocol.md, each taken away, which the random worlds have to find. A name begins with its rule's number. */
export const worlds: Mutants = {
  ...Object.fromEntries(
    ALSO_IN_SCENARIOS.map((name) => {
      const { file, from, to, ...mutant } = protocol[name]!;
      return [name, { name: mutant.name, file, from, to, foundBy: "simulation" }];
    }),
  ),
  "r1-background-refresh-is-stamped-late": {
    name: "what is fetched behind an answer is stamped with the view of its end",
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
    name: "what lies in memory is served without a look at the purges",
    file: FLOW,
    from: "judgeBy(context, remembered.head, purges.check(remembered.head, true), token, now)",
    to: 'judgeBy(context, remembered.head, "not-purged", token, now)',
    foundBy: "simulation",
  },
  "r4-head-is-not-checked": {
    name: "a HEAD is answered from memory without a look at the purges",
    file: FLOW,
    from: "judgeBy(context, remembered.head, purges.check(remembered.head, true), token, now)",
    to: 'judgeBy(context, remembered.head, facts.method === "HEAD" ? "not-purged" : purges.check(remembered.head, true), token, now)',
    foundBy: "simulation",
  },
  "r4-any-view-judges": {
    name: "what is found is judged by a view whose lease is over",
    file: "worker/flow/judging.ts",
    from: "purges.check(stored, isUsable)",
    to: "purges.check(stored, true)",
    foundBy: "simulation",
  },
  "r6-receipt-forgets-the-leases": {
    name: "a receipt settles without waiting for the leases that live",
    file: LOG,
    from: "this.#leases.longestLivingMs(now) + purge.skewMs",
    to: "purge.skewMs",
    foundBy: "simulation",
  },
  "r6-lease-from-the-reply": {
    name: "a lease counts from the reply of the log, not from the question",
    file: VIEW_LEASE,
    from: "const usableUntil = startedAt + leaseMs",
    to: "const usableUntil = this.#clock.now() + leaseMs",
    foundBy: "simulation",
  },
  "r8-known-purge-needs-a-view": {
    name: "with the log silent, what is known to be purged counts as unknown",
    file: VIEW,
    from: 'if (checked.answer === "not-purged") return "unknown";',
    to: 'return "unknown";',
    foundBy: "simulation",
  },
  "r8-unknown-is-fresh": {
    name: "with the log silent, what is stored is served until its lifetime ends",
    file: "worker/rules/freshness/unknown-purge-state.ts",
    from: "return !awaitsToken && sinceFetchMs >= 0 && sinceFetchMs < maxViewAgeMs;",
    to: "return !awaitsToken;",
    foundBy: "simulation",
  },
  "r9-older-read-proves": {
    name: "a read that began before the token came proves it false",
    file: VIEW_LEASE,
    from: "await this.#waitFor(this.#reading);",
    to: "if (await this.#waitFor(this.#reading)) return null;",
    foundBy: "simulation",
  },
  "r10-soft-forgives-hard": {
    name: "a soft purge after a hard one makes usable what was gone",
    file: VIEW,
    from: '["hard", "purged"],\n  ["invalidate", "invalidated"],\n  ["soft", "soft"],',
    to: '["soft", "soft"],\n  ["invalidate", "invalidated"],\n  ["hard", "purged"],',
    foundBy: "simulation",
  },
  "r10-soft-has-no-end": {
    name: "what was softly purged is of use for as long as its own rules say",
    file: JUDGE,
    from: "return now - seenAt < (ownMs > 0 ? ownMs : forMs) && ",
    to: "return ",
    foundBy: "simulation",
  },
  "r11-replaced-log-answers-late": {
    name: "a late reply of a log that was replaced brings it back",
    file: VIEW_LEASE,
    from: "number <= this.#callsBeforeView",
    to: "number < 0",
    foundBy: "simulation",
  },
  "r12-untold-counts-as-told": {
    name: "what a reply had no room for counts as told",
    file: VIEW,
    from: "this.#untold = unreadAfter(this.#untold, this.#seq, delta);",
    to: "",
    foundBy: "simulation",
  },
  "r13-another-logs-numbers-count": {
    name: "an entry of another log is judged by its number",
    file: VIEW,
    from: "stamp.logId !== this.#logId || ",
    to: "",
    foundBy: "simulation",
  },
  "r13-every-log-has-one-id": {
    name: "a log that is made anew has the id of the one before",
    file: LOG,
    from: "      this.#newId(),\n    );",
    to: '      "log-1",\n    );',
    foundBy: "simulation",
  },
  "r13-forgotten-without-a-floor": {
    name: "the log forgets purges, and tells no floor",
    file: LOG,
    from: 'SET floor = max(floor, ?), keys = keys - ?", seq, forgotten',
    to: 'SET keys = keys - ?", forgotten',
    foundBy: "simulation",
  },
  "r14-read-from-memory": {
    name: "the log goes by what it remembers of its state",
    file: LOG,
    from: "floor, hard, soft, invalidate } = this.#state();",
    to: "floor, hard, soft, invalidate } = (this.seen = this.#now() < this.seen?.at + 300 ? this.seen : { ...this.#state(), at: this.#now() });",
    foundBy: "simulation",
  },
  "r16-another-log-does-not-count": {
    name: "an entry that was checked once is not checked again when the log is another one",
    file: VIEW,
    from: "this.#table = this.#emptyTable();\n    this.#generation++;",
    to: "this.#table = this.#emptyTable();",
    foundBy: "simulation",
  },
  "r21-waiter-has-no-timer": {
    name: "who waits for the log waits until it answers",
    file: VIEW_LEASE,
    from: "await Promise.race([reading.hasSucceeded, tooSlow])",
    to: "await reading.hasSucceeded",
    foundBy: "simulation",
  },
};
