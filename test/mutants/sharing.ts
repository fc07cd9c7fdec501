import type { Mutants } from "./mutant.ts";

const LOG = "worker/purges/log/log.ts";
const POP_VIEW = "worker/purges/lease/pop-view.ts";
const VIEW = "worker/purges/view/view.ts";
const VIEW_LEASE = "worker/purges/lease/view-lease.ts";

/** One copy of the view for the isolates of a PoP (R22), and purges that may come late (R6). */
export const sharing: Mutants = {
  "copy-is-not-left": {
    name: "what an isolate has read of the log it keeps to itself",
    file: VIEW_LEASE,
    from: "copy && this.#pop.leave(copy)",
    to: "undefined",
    reddens: "what one isolate of a PoP has read of the purge log, the others take",
  },
  "purge-is-not-shared": {
    name: "the reply to a purge is not left for the others of the PoP",
    file: VIEW_LEASE,
    from: "await this.#pop.leaveSoon(this.#copyOf(delta.leaseMs, call));",
    to: "return;",
    reddens:
      "when its lease is over, an isolate knows of a purge by what another one has read, also while the log is silent",
  },
  "copy-is-ageless": {
    name: "the age of a copy does not count: a lease begins when it is taken",
    file: VIEW_LEASE,
    from: 'this.#extendLease(startedAt, delta.leaseMs);\n    this.#reporter.report({ kind: "view-shared" });',
    to: 'this.#extendLease(now, delta.leaseMs);\n    this.#reporter.report({ kind: "view-shared" });',
    reddens:
      "the age of what another isolate has read counts: it is used to the end of the lease that it began, and no longer",
  },
  "copy-of-any-age": {
    name: "a copy is taken however old it is, and a lease begins then",
    file: VIEW_LEASE,
    from: `    if (now >= startedAt + delta.leaseMs) return false; // its age counts
    if (!this.#view.apply(delta)) return false; // it does not connect (R12)
    this.#window = rollWindow(this.#window, delta);
    this.#extendLease(startedAt, delta.leaseMs);`,
    to: `    if (!this.#view.apply(delta)) return false;
    this.#window = rollWindow(this.#window, delta);
    this.#extendLease(now, delta.leaseMs);`,
    foundBy: "simulation",
  },
  "copy-rests-on-its-writing": {
    name: "a copy says that its read began when it was answered",
    file: VIEW_LEASE,
    from: "return { startedAt, withinMs: this.longestWithinMs,",
    to: "return { startedAt: startedAt && this.#clock.now(), withinMs: this.longestWithinMs,",
    foundBy: "simulation",
  },
  "older-copy-replaces-the-table": {
    name: "what a copy tells takes the place of what is known",
    file: VIEW,
    from: "    } else if (delta.from > this.#seq) {\n      return false;\n    }",
    to: "    } else if (delta.from > this.#seq) {\n      return false;\n    } else {\n      this.#table = this.#emptyTable();\n      this.#generation++;\n    }",
    foundBy: "simulation",
  },
  "copy-has-a-gap": {
    name: "a copy tells the last purges, and says that they are all since the first",
    file: "worker/purges/lease/rolling-window.ts",
    from: "const items = base ? joined(news, base.items) : news;",
    to: "const items = news;",
    foundBy: "simulation",
  },
  "claim-never-ends": {
    name: "a claim counts for ever",
    file: POP_VIEW,
    from: "Math.max(0, Math.min(mostMs, mostMs - ageMs))",
    to: "mostMs || 1",
    reddens: "an isolate that does not know of a purge serves the old page until its lease is over, and never after",
  },
  "receipt-forgets-the-bound": {
    name: "a receipt does not count with a route that lets a purge come late",
    file: LOG,
    from: "this.#leases.grant(Math.max(purge.leaseMs, purge.withinMs ?? 0), now);",
    to: "this.#leases.grant(purge.leaseMs, now);",
    reddens: "a receipt counts with the longest time in which any route lets a purge come late",
  },
  "every-purge-may-come-late": {
    name: "what only immutable pages may do, all do",
    file: "worker/flow/judging.ts",
    from: "reuse.immutable ? immutableWithinMs : withinMs",
    to: "reuse ? immutableWithinMs : withinMs",
    reddens:
      "what the origin calls immutable may be reached late by a purge where the site says so, and nothing else may",
  },
  "bound-has-no-end": {
    name: "a route that lets a purge come late is judged by a view just one millisecond older",
    file: VIEW_LEASE,
    from: "now >= this.#startedAt + Math.min(",
    to: "now > this.#startedAt + Math.min(",
    reddens:
      "while the log is silent, a route that lets a purge come late is served for so long after the last news, and no longer",
  },
  "bound-ends-with-the-lease": {
    name: "with the log silent, what a route fetched counts for one lease, though a purge may come later",
    file: "worker/flow/judging.ts",
    from: "Math.max(purges.leaseMs, maxViewAgeMs(context, stored))",
    to: "purges.leaseMs",
    reddens:
      "while the log is silent, a route that lets a purge come late is served for so long after the last news, and no longer",
  },
  "late-is-not-renewed": {
    name: "a view whose lease is over is not renewed behind what may be judged by it",
    file: VIEW_LEASE,
    from: "if (now < this.#dueAt || now < this.#probeAt) return false;",
    to: "if (now < this.#dueAt || now < this.#probeAt || now >= this.#usableUntil) return false;",
    reddens: "where a route lets a purge come late, the old page is served, and the log is asked behind the answer",
  },
  "bearer-gets-the-late": {
    name: "the bearer of a token gets the old page of a route that lets a purge come late",
    file: VIEW_LEASE,
    from: "return after === null || this.#hasReached(after);",
    to: "return after === null || withinMs > 0 || this.#hasReached(after);",
    reddens: "who carries the receipt's token does not get the old page of a route that lets a purge come late",
  },
};
