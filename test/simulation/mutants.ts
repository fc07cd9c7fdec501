import type { Mutants } from "../mutants/mutant.ts";

/** Wrong rules of docs/protocol.md that random worlds alone find. `purge-protocol` has those that a scenario finds as well. */
export const mutants: Mutants = {
  R1: {
    "a background refresh is stamped with the view that is held when it ends": {
      in: "unattended",
      replace: "ports: { ...ports, reporter",
      by: `ports: { ...ports, purges: new Proxy(ports.purges, { get: (purges, name) => {
  const late = { get logId() { return purges.stamp()?.logId; }, get seq() { return purges.stamp()?.seq; } };
  if (name === "stamp") return () => late;
  return typeof purges[name] === "function" ? purges[name].bind(purges) : purges[name];
} }), reporter`,
      foundBy: "simulation",
    },
    "an entry without a stamp is not purged": {
      in: "PurgeView.#answerFor",
      replace: "if (stamp === null || stamp.logId",
      by: "if (stamp === null) return false; if (stamp.logId",
      foundBy: "simulation",
    },
  },
  R3: {
    "a 304 freshens the page that is in memory when it arrives, whichever was validated": {
      in: "freshen",
      replace: "if (!confirms(named, validatorsOf(head))) return null;",
      by: `const inMemory = context.ports.store.recall(head.key);
if (inMemory && "body" in inMemory) ({ head, body } = inMemory);`,
      foundBy: "simulation",
    },
    "the bodies of all versions of a page that are stored apart have one key": {
      in: "copyBeside",
      replace: "`${head.key}\\n${head.fetchedAt.toString(36)}-${ports.random().toString(36).slice(2)}`",
      by: "head.key",
      foundBy: "simulation",
    },
  },
  R4: {
    "an entry in memory is served without a check for purges": {
      in: "judgeAtOnce",
      replace: "purges.check(head, isUsable)",
      by: '"not-purged"',
      foundBy: "simulation",
    },
    "a HEAD is answered from memory without a check for purges": {
      in: "judgeAtOnce",
      replace: "purges.check(head, isUsable)",
      by: 'context.facts.method === "HEAD" ? "not-purged" : purges.check(head, isUsable)',
      foundBy: "simulation",
    },
    "an entry is judged by a view whose lease is over": {
      in: "judgeNow",
      replace: "purges.check(head, isUsable)",
      by: "purges.check(head, true)",
      foundBy: "simulation",
    },
  },
  R6: {
    "a lease counts from the reply of the log, not from the request": {
      in: "LeaseTiming.extend",
      replace: "const usableUntil = startedAt + leaseMs",
      by: "const usableUntil = now + leaseMs",
      foundBy: "simulation",
    },
  },
  R8: {
    "while the log is silent, a stored page is served until its lifetime ends": {
      in: "mayAnswerWhileUnknown",
      replace: "return !awaitsToken && sinceFetchMs >= 0 && sinceFetchMs < maxViewAgeMs;",
      by: "return !awaitsToken;",
      foundBy: "simulation",
    },
    "an isolate with a name serves what it has fetched for a lease, however long the log has been silent": {
      in: "ViewLease.unknownForMs",
      replace: "const isRemembered =",
      by: "const isRemembered = this.name !== undefined ||",
      foundBy: "simulation",
    },
    "an isolate that has given up its lease serves what it has fetched for a lease": {
      in: "LeaseTiming.giveUp",
      drop: "this.#readAt = NEVER;",
      foundBy: "simulation",
    },
  },
  R9: {
    "a read that began before a token arrived proves the token false": {
      in: "ViewLease.#isBroughtBy",
      replace: "await this.#renewal.waitFor(underWay);",
      by: "if (await this.#renewal.waitFor(underWay)) return true;",
      foundBy: "simulation",
    },
    "the position of a child counts for nothing if the log knows of no such number": {
      in: "ViewLease.#readUpToBinding",
      replace: "return this.#leased.hasReached(token) ? null : token;",
      by: "return null;",
      foundBy: "simulation",
    },
    "a child tells its parent a position that every view has reached": {
      in: "ParentOrigin.fetch",
      replace: "const after = writePosition(request.after ?? null);",
      by: "const after = writePosition(request.after ? { ...request.after, seq: 0 } : null);",
      foundBy: "simulation",
    },
    "a child that does not reach its log tells its parent nothing of the token of a request": {
      in: "neededPosition",
      replace: "token.seq > stamp.seq ? token : stamp",
      by: "stamp",
      foundBy: "simulation",
    },
  },
  R10: {
    "a soft purge after a hard one makes a purged page usable": {
      in: "ANSWERS",
      replace: '["hard", "purged"], ["invalidate", "invalidated"], ["soft", "soft"],',
      by: '["soft", "soft"], ["invalidate", "invalidated"], ["hard", "purged"],',
      foundBy: "simulation",
    },
    "the time after a soft purge begins when an isolate learns of it": {
      in: "LeasedView.takeReply",
      replace: "this.#view.apply(delta, sightingsIn(delta, startedAt))",
      by: "this.#view.apply(delta, [{ seq: delta.to, at: startedAt }])",
      foundBy: "simulation",
    },
    "a softly purged page is usable for as long as its own rules say": {
      in: "isUsableAfterSoftPurge",
      replace: "return now - madeStaleAt < (ownMs > 0 ? ownMs : rules.softForMs) &&",
      by: "return",
      foundBy: "simulation",
    },
  },
  R11: {
    "a shared view replaces what is known": {
      in: "PurgeView.apply",
      replace: "this.#begin();",
      by: "this.#begin(); else { this.#table = this.#emptyTable(); this.#generation++; }",
      foundBy: "simulation",
    },
    "a late reply of a log that was replaced brings that log back": {
      in: "LeasedView.takeReply",
      replace: "number <= this.#callsBeforeView",
      by: "number < 0",
      foundBy: "simulation",
    },
  },
  R12: {
    "a shared view has the last purges, and claims to have all since the first": {
      in: "mergeRecent",
      replace: "const items = base ? concat(news, base.items) : news;",
      by: "const items = news;",
      foundBy: "simulation",
    },
    "purges for which a reply had no room count as told": {
      in: "PurgeView.apply",
      drop: "this.#unread = unreadAfter(this.#unread, seq, delta);",
      foundBy: "simulation",
    },
  },
  R13: {
    "a log that is made anew has the id of the one before": {
      in: "SqlPurgeLog.#beginAnew",
      replace: "this.#newId()",
      by: '"log-1"',
      foundBy: "simulation",
    },
    "the log forgets purges without raising its floor": {
      in: "SqlPurgeLog.#forgetUpTo",
      replace: 'SET floor = max(floor, ?), keys = keys - ?", seq, forgotten',
      by: 'SET keys = keys - ?", forgotten',
      foundBy: "simulation",
    },
  },
  R14: {
    "the log answers from what it remembers of its state": {
      in: "SqlPurgeLog.#replyTo",
      replace: "= this.#noticeLostHistory(since)",
      by: "= ((state) => (this.seen = this.#now() < this.seen?.at + 300 ? this.seen : { ...state, at: this.#now() }))(this.#noticeLostHistory(since))",
      foundBy: "simulation",
    },
  },
  R15: {
    "a server's append that has failed is not tried again": {
      in: "NearInvalidations.#send",
      replace: "this.#putBack(batch);",
      by: "continue;",
      foundBy: "simulation",
    },
  },
  R17: {
    "a parent's copy with other tags confirms a child's page that was purged by its tag": {
      in: "conditionsOf",
      replace: "|| ports.origin.isCache",
      by: "",
      foundBy: "tier: a page purged by a tag that only the child's copy has is not shown to the bearer of the token",
    },
  },
  R22: {
    "a shared view is taken, however old it is, and a lease begins then": {
      in: "LeasedView.takeCopy",
      replace:
        "if (now >= startedAt + delta.leaseMs) return false; if (!this.#view.apply(delta, sightings)) return false; this.#recent = mergeRecent(this.#recent, delta); this.#extendLease(startedAt, delta.leaseMs);",
      by: `if (!this.#view.apply(delta, sightings)) return false;
this.#recent = mergeRecent(this.#recent, delta);
this.#extendLease(now, delta.leaseMs);`,
      foundBy: "simulation",
    },
    "a shared view gives the time of its reply as the beginning of its read": {
      in: "LeasedView.copyAfter",
      replace: "return { startedAt, longestViewAgeMs: this.#timing.longestViewAgeMs,",
      by: "return { startedAt: startedAt && this.#clock.now(), longestViewAgeMs: this.#timing.longestViewAgeMs,",
      foundBy: "simulation",
    },
  },
  R24: {
    "a receipt does not wait for workers that are late": {
      in: "LogReaders.push",
      replace: "return (await late)?.length === 0 && !this.#hasStrangers();",
      by: "return (await late) !== undefined;",
      foundBy: "simulation",
    },
    "a supervisor forgets the workers that it has taken over from another one": {
      in: "LogReaders.adopt",
      drop: "this.#add",
      foundBy: "simulation",
    },
    "a receipt does not wait for other machines": {
      in: "SharedLogKeeper.append",
      replace: "(await Promise.all([own, others])).every((each) => each)",
      by: "await own",
      foundBy: "simulation",
    },
    "a receipt counts a machine that is late as one that has confirmed": {
      in: "MachineConfirmations.confirmed",
      replace: "return late.length === 0;",
      by: "return true;",
      foundBy: "simulation",
    },
  },
  R25: {
    "a reader that a push does not reach counts as having confirmed it": {
      in: "ConnectedLog.#pushTo",
      replace: "if (hasReached === null) return this.disconnect(connection);",
      by: "if (hasReached === null) this.#confirm(connection, { logId: delta.logId, seq: delta.to });",
      foundBy: "simulation",
    },
    "a log that has restarted does not wait for the leases that it granted before": {
      in: "SqlPurgeLog.#watch",
      replace: "this.#startedAt + earlierMs",
      by: "now - skewMs - earlierMs",
      foundBy: "simulation",
    },
    "the log does not know of the lease that it grants to a reader with a name by a read without a connection": {
      in: "SqlPurgeLog.read",
      replace: "if (reader !== undefined && leaseMs > 0) {",
      by: "if (by !== undefined) {",
      foundBy: "simulation",
    },
    "an isolate tells the log that it has given up its lease, and goes on using it": {
      in: "KeptView.keep",
      drop: "leased.giveUp();",
      foundBy: "simulation",
    },
    "a reader that has confirmed a purge counts as one that has confirmed those above it": {
      in: "Settlement.confirm",
      replace: "each.logId === logId && each.seq <= seq",
      by: "each.logId === logId",
      foundBy: "simulation",
    },
    "a reader confirms purges of a new log by its number of the old one": {
      in: "reaches",
      replace: "confirmed?.logId === logId && confirmed.seq >= seq",
      by: "confirmed !== null && confirmed.seq >= seq",
      foundBy: "simulation",
    },
    "a lease is given up by a message over an older connection than the one that granted it": {
      in: "Settlement.leave",
      drop: "if (by !== undefined && this.#readers.get(reader)?.by !== by) return [];",
      foundBy: "simulation",
    },
    "the log counts with an isolate with a name for as long as its lease, and no longer": {
      in: "SqlPurgeLog.read",
      replace: "Math.max(leaseMs, longestViewAgeMs, this.#settings.rememberedByNameMs)",
      by: "Math.max(leaseMs, longestViewAgeMs)",
      foundBy: "simulation",
    },
    "a log that was made anew does not count with readers without a name of the log before": {
      in: "GrantedLeases.begin",
      replace: "namelessAt: now",
      by: "namelessAt: knowsEarlier ? now : 0",
      foundBy: "simulation",
    },
    "an isolate with a name leaves a copy of what it has read, for isolates that never confirm": {
      in: "Renewal.read",
      replace: "const isShared = name === undefined;",
      by: "const isShared = true;",
      foundBy: "simulation",
    },
    "a late reply to an earlier call brings back a lease that was given up": {
      in: "LeasedView.giveUp",
      drop: "this.#callsGivenUp = this.#callsBegun;",
      foundBy: "simulation",
    },
  },
  R26: {
    "an isolate that goes on without a name keeps what the log has granted under it": {
      in: "ViewLease.giveUpName",
      replace: "this.#leased.giveUp(); this.#name = undefined;",
      by: "this.#name = undefined;",
      foundBy: "simulation",
    },
    "a lease that is renewed over a connection counts from the reply": {
      in: "KeptView.#renewOver",
      replace: "reply.then((delta) => this.#take(delta, call))",
      by: "reply.then((delta) => this.#take(delta, leased.beginCall()))",
      foundBy: "simulation",
    },
  },
};
