import type { Mutants } from "../../mutants/mutant.ts";

/** The rules of docs/protocol.md, each taken away. */
export const mutants: Mutants = {
  R1: {
    "an entry is stamped with the view that is held when its answer arrives": {
      in: "decideStorage",
      replace: "stamp: response.stamp",
      by: "stamp: ports.purges.stamp()",
      foundBy: ["purge-protocol/purge-during-fill", "simulation"],
    },
    "an entry is stamped with the view that is held when its body ends": {
      in: "storeIfWhole",
      replace: "withBody(head, read.bytes)",
      by: "withBody({ ...head, stamp: context.ports.purges.stamp() }, read.bytes)",
      foundBy: "purge-protocol/purge-during-body",
    },
    "the next purge after an entry's stamp does not count": {
      in: "PurgeView.#latestAbove",
      replace: "latest > seq ?",
      by: "latest > seq + 1 ?",
      foundBy: "purge-protocol/late-fill-in-shared-tier",
    },
    "a refresh is fetched without a view where none is held": {
      in: "corridor:refresh",
      drop: "await renewUnlessUsable(context, null);",
      foundBy: "purging/refresh-by-new-isolate",
    },
    "a page that was fetched without a view is stamped with the first one that comes": {
      in: "decideStorage",
      replace: "stamp: response.stamp",
      by: "stamp: response.stamp ?? ports.purges.stamp()",
      foundBy: "purge-protocol/fetch-before-first-view",
    },
  },
  R2: {
    "a freshened page is stamped with the view that is held when the 304 arrives": {
      in: "freshen",
      replace: "{ ...decision.head, givenPurgeKeys",
      by: "{ ...decision.head, stamp: context.ports.purges.stamp(), givenPurgeKeys",
      foundBy: ["validation/purged-while-validated", "simulation"],
    },
    "while the log is silent, the one lease of a freshened page is counted from the 304": {
      in: "freshen",
      replace: "{ ...decision.head, givenPurgeKeys",
      by: "{ ...decision.head, fetchedAt: decision.head.receivedAt, givenPurgeKeys",
      foundBy: "validation/silent-log-slow-validation",
    },
    "a freshened page keeps the stamp of its first fetch": {
      in: "freshen",
      replace: "{ ...decision.head, givenPurgeKeys",
      by: "{ ...decision.head, stamp: head.stamp, fetchedAt: head.fetchedAt, givenPurgeKeys",
      foundBy: "validation/silent-log-just-validated",
    },
  },
  R3: {
    "of the copies that were found, the oldest is validated": {
      in: "missOf",
      replace: "b.stored.head.fetchedAt - a.stored.head.fetchedAt",
      by: "a.stored.head.fetchedAt - b.stored.head.fetchedAt",
      foundBy: "freshening/304-and-older-copy",
    },
    "an entry from the shared tier is stamped with the view that finds it": {
      in: "chooseWhenDone",
      replace: "const found = await finding;",
      by: `const found = await finding;
if (found && !selectInMemory(context)) Object.assign(found.head, { stamp: context.ports.purges.stamp() });`,
      foundBy: "purge-protocol/entry-keeps-its-stamp",
    },
  },
  R4: {
    "memory is judged by a view whose lease is over": {
      in: "judgeAtOnce",
      replace: "const isUsable = purges.isUsable(now, token, maxViewAgeMs);",
      by: "const isUsable = true;",
      foundBy: "purge-protocol/old-page-until-lease-ends",
    },
    "an entry is judged by the view and the time of when its look-up began": {
      in: "chooseWhenDone",
      replace: "const token = await renewUnlessUsable(context, await renewal);",
      by: `const token = await renewal;
const { ports } = context;
const then = { now: () => context.arrival.at, wait: (ms: number) => ports.clock.wait(ms) };
context = { ...context, ports: { ...ports, clock: then } };`,
      foundBy: "purge-protocol/look-up-outlasts-lease",
    },
  },
  R5: {
    "a follower takes an answer that its own view calls purged": {
      in: "mayFollow",
      replace: 'return answer === "not-purged";',
      by: "return true;",
      foundBy: ["purge-protocol/follower-after-purge", "simulation"],
    },
    "a follower refuses every fetch that began before it arrived": {
      in: "mayFollow",
      replace: 'return answer === "not-purged";',
      by: "return false;",
      foundBy: "purge-protocol/unrelated-purge-during-fill",
    },
    "while the log is silent, a follower takes an answer, however long ago its fetch began": {
      in: "mayFollow",
      replace: "Math.max(0, arrival.at - head.fetchedAt)",
      by: "0",
      foundBy: "purge-protocol/silent-log-late-follower",
    },
    "while the log is silent, a request with a token takes an answer that no view has accepted": {
      in: "mayFollow",
      replace: "awaitsToken: token !== null",
      by: "awaitsToken: false",
      foundBy: "purge-protocol/silent-log-token-follower",
    },
    "a request with a token takes a purged page that the origin has confirmed for another": {
      in: "mayFollow",
      replace: "isLater && status !== 304",
      by: "isLater",
      foundBy: "purge-protocol/token-beside-validation",
    },
  },
  R6: {
    "a receipt does not wait for the leases that are held": {
      in: "SqlPurgeLog.append",
      replace: "this.#leases.longestLivingMs(now) + purge.skewMs",
      by: "purge.skewMs",
      foundBy: ["purge-protocol/receipt-waits-for-leases", "simulation"],
    },
    "a receipt ignores routes that let a purge arrive late": {
      in: "SqlPurgeLog.append",
      replace: "this.#grant(reader, Math.max(purge.leaseMs, purge.longestViewAgeMs ?? 0), now);",
      by: "this.#grant(reader, purge.leaseMs, now);",
      foundBy: "purge-protocol/receipt-and-late-routes",
    },
    "the rule for immutable pages applies to all pages": {
      in: "maxViewAgeOf",
      replace: "reuse.immutable ? maxViewAgeImmutableMs : maxViewAgeMs",
      by: "reuse ? maxViewAgeImmutableMs : maxViewAgeMs",
      foundBy: "purge-protocol/late-immutable-pages",
    },
    "a route that lets a purge arrive late is judged by a view one millisecond too old": {
      in: "LeaseTiming.isUsable",
      replace: "now < this.#startedAt + Math.min(",
      by: "now <= this.#startedAt + Math.min(",
      foundBy: "purge-protocol/late-route-log-silent",
    },
    "while the log is silent, a page of a route that lets a purge arrive late counts for one lease only": {
      in: "ViewLease.unknownForMs",
      replace: "Math.max(this.#timing.leaseMs, maxViewAgeMs)",
      by: "this.#timing.leaseMs",
      foundBy: "purge-protocol/late-route-log-silent",
    },
    "a view whose lease is over is not renewed behind a page that may still be judged by it": {
      in: "LeaseTiming.isDue",
      replace: "return now >= this.#dueAt && now >= this.#probeAt;",
      by: "return now >= this.#dueAt && now >= this.#probeAt && now < this.#usableUntil;",
      foundBy: "purge-protocol/late-route",
    },
    "a request with a token gets the old page of a route that lets a purge arrive late": {
      in: "ViewLease.isUsable",
      replace: "return token === null || this.#leased.hasReached(token);",
      by: "return token === null || maxViewAgeMs > 0 || this.#leased.hasReached(token);",
      foundBy: "purge-protocol/late-route-token",
    },
    "a receipt counts only the lease of the isolate that purges": {
      in: "SqlPurgeLog.append",
      replace: "this.#leases.longestLivingMs(now) + purge.skewMs",
      by: "purge.leaseMs + purge.skewMs",
      foundBy: "purge-protocol/deployment-shortens-lease",
    },
  },
  R7: {
    "a receipt settles without the allowance for differing clocks": {
      in: "SqlPurgeLog.append",
      replace: "this.#leases.longestLivingMs(now) + purge.skewMs",
      by: "this.#leases.longestLivingMs(now)",
      foundBy: ["purge-protocol/receipt-waits-for-leases", "simulation"],
    },
    "a receipt assumes that the clocks of a PoP agree": {
      in: "SqlPurgeLog.append",
      replace: "this.#leases.longestLivingMs(now) + purge.skewMs",
      by: "this.#leases.longestLivingMs(now)",
      foundBy: "purge-protocol/clocks-within-allowance",
    },
    "a lease begins when a shared view is taken, not when its read began": {
      in: "LeasedView.takeCopy",
      replace: "this.#extendLease(startedAt, delta.leaseMs)",
      by: "this.#extendLease(now, delta.leaseMs)",
      foundBy: "purge-protocol/clocks-beyond-allowance",
    },
  },
  R8: {
    "while the log is silent, the one lease is counted from the answer, not from the request": {
      in: "judge",
      replace: "now - stored.fetchedAt",
      by: "now - stored.receivedAt",
      foundBy: "purge-protocol/silent-log-slow-fetch",
    },
    "while the log is silent, a page that was fetched exactly one lease ago is served": {
      in: "mayAnswerWhileUnknown",
      replace: "sinceFetchMs < maxViewAgeMs",
      by: "sinceFetchMs <= maxViewAgeMs",
      foundBy: "purge-protocol/silent-log-one-lease",
    },
    "an isolate that has never read the log serves what it has fetched for a lease while the log is silent": {
      in: "ViewLease.unknownForMs",
      replace: "const isRemembered =",
      by: "const isRemembered = this.name === undefined ||",
      foundBy: ["purge-protocol/silent-log-newcomer", "simulation"],
    },
    "while the log is silent, a page that is known to be purged counts as unknown": {
      in: "PurgeView.check",
      replace: 'if (answer === "not-purged") return "unknown";',
      by: 'return "unknown";',
      foundBy: ["purge-protocol/log-lost-after-purge", "simulation"],
    },
  },
  R9: {
    "while the log is silent, a request with a token gets a page that was just fetched": {
      in: "mayAnswerWhileUnknown",
      replace: "!awaitsToken &&",
      by: "",
      foundBy: "purge-protocol/silent-log-token",
    },
    "a request with a token is answered from a view that has not come so far": {
      in: "ViewLease.isUsable",
      replace: "return token === null || this.#leased.hasReached(token);",
      by: "return true;",
      foundBy: "purge-protocol/token-at-another-isolate",
    },
    "a token that the log does not confirm stays in force": {
      in: "ViewLease.#readUpTo",
      replace: "return hasSucceeded ? null : token;",
      by: "return token;",
      foundBy: "purge-protocol/token-ahead-of-log",
    },
    "a token has no effect while the log is silent": {
      in: "ViewLease.#readUpTo",
      replace: "return hasSucceeded ? null : token;",
      by: "return null;",
      foundBy: "purge-protocol/silent-log-token",
    },
    "a request with a token gets a stale page while it is refetched": {
      in: "usableWhileStale",
      replace: "if (!mayBeStale(reuse, rules) || awaitsPurge || authorized || answer",
      by: "if (!mayBeStale(reuse, rules) || authorized || answer",
      foundBy: ["stale-while-revalidate/with-earlier-token", "simulation"],
    },
    "a request with a token gets a stale page when the origin fails": {
      in: "mayServeOnError",
      replace: "if (request.awaitsPurge ||",
      by: "if (",
      foundBy: "stale-if-error/with-earlier-token",
    },
    "a token is compared by number with the view of any log": {
      in: "LeasedView.hasReached",
      replace: "position.logId === token.logId && position.seq",
      by: "position.seq",
      foundBy: "purge-protocol/token-of-new-log",
    },
    "a token has no effect once the log is known to be silent": {
      in: "ViewLease.#readUpTo",
      replace: "if (this.#timing.hasFailed(this.#clock.now())) return token;",
      by: "if (this.#timing.hasFailed(this.#clock.now())) return null;",
      foundBy: "purge-protocol/silent-log-token-bearer",
    },
  },
  R10: {
    "the origin is asked to confirm a purged page": {
      in: "missOf",
      replace: 'if (verdict.kind === "validate")',
      by: 'if (verdict.kind === "validate" || verdict.because === "purged")',
      foundBy: "validation/purged-is-fetched-in-full",
    },
  },
  R11: {
    "a late reply of the log replaces newer knowledge": {
      in: "PurgeView.apply",
      replace: "const isOfThisLog = delta.logId === this.#position?.logId;",
      by: "const isOfThisLog = delta.logId === this.#position?.logId && delta.to >= this.#position.seq;",
      foundBy: "purge-protocol/late-reply-of-log",
    },
    "a late shared view replaces newer knowledge": {
      in: "PurgeView.apply",
      replace: "const isOfThisLog = delta.logId === this.#position?.logId;",
      by: "const isOfThisLog = delta.logId === this.#position?.logId && delta.to >= this.#position.seq;",
      foundBy: "purge-protocol/late-shared-view",
    },
    "a shared view makes an isolate take another log for its own": {
      in: "LeasedView.takeCopy",
      drop: "if (position !== null && position.logId !== delta.logId) return false;",
      foundBy: "purge-protocol/late-view-of-old-log",
    },
  },
  R12: {
    "a reader that holds nothing is told only the purges that follow": {
      in: "SqlPurgeLog.#replyTo",
      replace: "? since.seq : 0",
      by: "? since.seq : to",
      foundBy: ["purge-protocol/purge-survives-restart", "simulation"],
    },
    "a shared view that had no room for the oldest purges claims to have them": {
      in: "mergeRecent",
      replace: "return { ...rest, from: firstLeftOut,",
      by: "return { ...rest, from: base?.from ?? readFrom,",
      foundBy: "purge-protocol/gap-in-shared-view",
    },
  },
  R13: {
    "a page of which nobody can tell whether it was purged is confirmed by the origin": {
      in: "judge",
      replace: '{ kind: "none", because: "unverifiable" }',
      by: '{ kind: "validate", because: "invalidated" }',
      foundBy: "purge-protocol/new-log-and-same-validators",
    },
    "a log whose storage went back goes on under the same id": {
      in: "SqlPurgeLog.#noticeLostHistory",
      replace: "if (since?.logId !== state.id || since.seq <= state.head) return state;",
      by: "return state;",
      foundBy: "purge-protocol/log-set-back",
    },
    "a page that is ahead of the log shows nothing": {
      in: "LeasedView.isDoubtedBy",
      replace: "stamp === null ||",
      by: "position !== null ||",
      foundBy: "purge-protocol/log-set-back-alone",
    },
    "an entry that another log stamped is judged by its number": {
      in: "PurgeView.#answerFor",
      replace: "stamp.logId !== logId ||",
      by: "",
      foundBy: ["purge-protocol/log-renamed", "simulation"],
    },
  },
  R14: {
    "a log object relies on its memory as long as it has written nothing itself": {
      in: "SqlPurgeLog.constructor",
      replace: "this.#sql = sql;",
      by: `let state: Record<string, unknown>[] | undefined;
this.#sql = {
  ...sql,
  exec: (statement, ...bindings) => {
    if (statement === "SELECT * FROM state") return (state ??= sql.exec(statement));
    if (statement.startsWith("UPDATE state")) state = undefined;
    return sql.exec(statement, ...bindings);
  },
};`,
      foundBy: "purge-protocol/log-taken-over",
    },
  },
  R15: {
    "a POST is written to the log before it is forwarded": {
      in: "askAndInvalidate",
      replace: "const result = await askOrigin(context, { storing: false }); await invalidateAfter(context, result);",
      by: `await invalidateAfter(context, { kind: "failed", answerInstead: () => new Response() });
const result = await askOrigin(context, { storing: false });`,
      foundBy: ["invalidation-log/fetched-during-post", "simulation"],
    },
    "a POST whose answer is lost invalidates nothing": {
      in: "invalidateAfter",
      replace: "result.response.status : 200",
      by: "result.response.status : 502",
      foundBy: ["invalidation-log/answer-is-lost", "simulation"],
    },
    "a second POST within a lease is not written to the log": {
      in: "LogInvalidations.tell",
      replace: "this.#waiting.add(key);",
      by: "continue;",
      foundBy: ["invalidation-log/second-post-reaches-log", "simulation"],
    },
    "an invalidation that the log did not receive is not sent again": {
      in: "LogInvalidations.#untilTold",
      replace: "if (attempt === MAX_ATTEMPTS)",
      by: "if (attempt === 1)",
      foundBy: "invalidation-log/post-while-log-silent",
    },
    "a POST leaves the copies in its own PoP to the log": {
      in: "invalidateAfter",
      replace: "keys.map((key) => ports.store.forget(key))",
      by: "[]",
      foundBy: "invalidation-log/own-pop-at-once",
    },
  },
  R16: {
    "an entry that was checked once is not checked again after newer purges": {
      in: "PurgeView.apply",
      drop: "if (hasNews) this.#generation++;",
      foundBy: ["purging/checked-before", "simulation"],
    },
    "an entry is not checked again where the sequence number is the same": {
      in: "PurgeView.#answerFor",
      replace: "if (stamp === null || stamp.logId",
      by: 'if (stamp !== null && seq <= stamp.seq) return "not-purged"; if (stamp === null || stamp.logId',
      foundBy: "purge-protocol/new-log-same-number",
    },
  },
  R17: {
    "a 304 without tags removes a page's tags": {
      in: "freshen",
      replace: "...decision.head.givenPurgeKeys, ...head.givenPurgeKeys",
      by: "...decision.head.givenPurgeKeys",
      foundBy: ["freshening/304-without-tags", "simulation"],
    },
    "the tags of a 304 are not read": {
      in: "freshen",
      replace: "...decision.head.givenPurgeKeys, ...head.givenPurgeKeys",
      by: "...head.givenPurgeKeys",
      foundBy: "freshening/304-adds-a-tag",
    },
  },
  R18: {
    "a page that is known to be purged is served while it is fresh": {
      in: "judge",
      replace: 'if (answer === "purged")',
      by: "if (false)",
      foundBy: "purging/outlives-its-origin",
    },
    "a page that was purged while the origin was awaited is served when the origin fails": {
      in: "mayServeOnError",
      replace: 'if (answer === "purged" ||',
      by: "if (",
      foundBy: "stale-if-error/purged-while-origin-fails",
    },
    "a stale page is judged by the view from before the origin was asked": {
      in: "staleAnswer",
      drop: "await renewUnlessUsable(context, null);",
      foundBy: "stale-if-error/purged-while-origin-fails",
    },
    "a stale page is served while the log is silent, although the owner forbids it": {
      in: "mayServeOnError",
      replace: "isUnknown && !mayStandInWhileUnknown(rules)",
      by: "false",
      foundBy: ["stale-if-error/forbidden-while-purge-unknown", "simulation"],
    },
    "no stale page is served while the log is silent, although the owner allows it": {
      in: "mayServeOnError",
      replace: "isUnknown && !mayStandInWhileUnknown(rules)",
      by: "isUnknown",
      foundBy: "stale-if-error/unknown-purge-log-silent",
    },
  },
  R19: {
    "a refresh replaces a marker that it does not know": {
      in: "corridor:refresh",
      drop: "await learnVariants(context);",
      foundBy: "purging/refresh-keeps-other-variants",
    },
    "a variant is not judged once its marker was found": {
      in: "PurgeView.#answerFor",
      replace: "this.#findAnswer(stamp, stored, checked)",
      by: 'stored.variant.length === 0 ? this.#findAnswer(stamp, stored, checked) : "not-purged"',
      foundBy: "variants/purge-reaches-every-variant",
    },
    "the latest variant answers every request": {
      in: "matchesVariant",
      replace: "asked === value;",
      by: "true;",
      foundBy: "variants/purge-reaches-every-variant",
    },
    "a follower takes a variant that it did not select": {
      in: "follow",
      drop: "if (!selects(context.reduced?.asSent ?? context, stored)) return null;",
      foundBy: ["variants/follower-of-another-variant", "simulation"],
    },
    "one error that a request provoked makes every request fetch for itself": {
      in: "mayBeOfOneRequest",
      replace: "return status >= 400 && (",
      by: "return false && (",
      foundBy: "collapsing/error-of-one-request",
    },
    "a follower of a fetch that failed fetches alone": {
      in: "followOrTryAgain",
      replace: "attempt.hasFailed ? fetchAlone()",
      by: "true ? fetchAlone()",
      foundBy: "collapsing/error-of-one-request",
    },
  },
  R20: {
    "the reply to a purge does not bring the caller's view up to date": {
      in: "ReadYourWritesLog.append",
      replace: "await this.#lease.takeReplyAndShare(delta, call);",
      by: "void [delta, call];",
      foundBy: ["purging/refresh-with-purge", "simulation"],
    },
    "a purge is not repeated": {
      in: "SqlPurgeLog.runDue",
      replace: "due_at <= ?",
      by: "due_at < 0 AND ? > 0",
      foundBy: ["purging/repeated-purge", "simulation"],
    },
  },
  R21: {
    "a request that waits for a read of the log waits until it ends": {
      in: "Renewal.waitFor",
      replace: "reading.hasSucceeded, tooSlow)",
      by: "reading.hasSucceeded, () => (tooSlow(), new Promise<boolean>(() => undefined)))",
      foundBy: ["purge-protocol/cancelled-renewal", "simulation"],
    },
    "no read of the log begins before the last one has ended": {
      in: "Renewal.#mayBeJoined",
      replace: "return reading !== null && now - reading.startedAt < this.#timing.patienceMs;",
      by: "return reading !== null;",
      foundBy: "purge-protocol/cancelled-renewal",
    },
    "a reply of the log that comes after its lease clears the memory of the failure": {
      in: "LeaseTiming.extend",
      replace: "if (usableUntil > now) {",
      by: "if (usableUntil > 0) {",
      foundBy: "purge-protocol/log-slower-than-lease",
    },
  },
  R22: {
    "the view is renewed only when its lease is over": {
      in: "DUE_TO",
      replace: "const DUE_TO = 0.88;",
      by: "const DUE_TO = 9;",
      foundBy: "purge-protocol/renewal-late-in-lease",
    },
    "the view is renewed behind every other hit": {
      in: "DUE_TO",
      replace: "const DUE_TO = 0.88;",
      by: "const DUE_TO = -0.5;",
      foundBy: ["purge-protocol/log-reads-for-hits", "simulation"],
    },
    "the view is renewed early in the lease": {
      in: "DUE_FROM",
      replace: "const DUE_FROM = 0.7;",
      by: "const DUE_FROM = -0.9;",
      foundBy: "purge-protocol/old-page-until-lease-ends",
    },
    "an isolate keeps its reads of the log to itself": {
      in: "Renewal.read",
      replace: "copy && this.#pop.publish(copy)",
      by: "undefined",
      foundBy: "purge-protocol/view-shared-in-pop",
    },
    "the reply to a purge is not shared with the other isolates of the PoP": {
      in: "ViewLease.takeReplyAndShare",
      replace: "await this.#pop.publishSoon(this.#leased.copyAfter(delta.leaseMs, call));",
      by: "return;",
      foundBy: "purge-protocol/purge-known-by-sharing",
    },
    "the age of a shared view does not count: a lease begins when it is taken": {
      in: "LeasedView.takeCopy",
      replace: "this.#extendLease(startedAt, delta.leaseMs)",
      by: "this.#extendLease(now, delta.leaseMs)",
      foundBy: "purge-protocol/shared-view-keeps-its-age",
    },
    "a claim to read the log never ends": {
      in: "PopSharing.#expectedMs",
      replace: "Math.max(0, Math.min(maxMs, maxMs - ageMs))",
      by: "maxMs || 1",
      foundBy: "purge-protocol/old-page-until-lease-ends",
    },
  },
  R23: {
    "an answer that is known to be purged is stored": {
      in: "storeUnlessPurged",
      replace: "isOutdated(context, stored.head)",
      by: "false",
      foundBy: ["purge-protocol/purged-before-arrival", "simulation"],
    },
    "an answer that is older than the one in memory is put into the shared tier": {
      in: "TieredStore.keep",
      replace: "if (!this.#put(stored)) return true;",
      by: "this.#put(stored);",
      foundBy: "purging/refresh-during-earlier-fetch",
    },
    "an unusable entry in memory ends the look-up": {
      in: "candidates",
      replace: "[remembered, found].filter",
      by: "[remembered ?? found].filter",
      foundBy: "purge-protocol/refetched-by-another-isolate",
    },
  },
  R24: {
    "an isolate confirms a push that it could not take in": {
      in: "ViewLease.learn",
      replace: "if (this.#leased.takePush(delta)) return true;",
      by: "this.#leased.takePush(delta); if (delta) return true;",
      foundBy: ["purge-protocol/push-after-gap", "simulation"],
    },
    "a push is confirmed by what the view had reached before": {
      in: "LeasedView.takePush",
      replace: "!this.#view.apply(delta, sightingsIn(delta, this.#sentAt))",
      by: "delta.from > position.seq",
      foundBy: ["purge-protocol/pushed-purge-holds-at-once", "simulation"],
    },
    "a push extends the lease, as a reply of the log does": {
      in: "LeasedView.takePush",
      wrap: `(delta) => {
  this.#extendLease(this.#clock.now(), this.#timing.leaseMs);
  return original(delta);
}`,
      foundBy: ["purge-protocol/push-extends-no-lease", "simulation"],
    },
    "a push of another log is confirmed, and the view stays with the log that it knows": {
      in: "LeasedView.takePush",
      replace: "this.#timing.end(); return false;",
      by: "return true;",
      foundBy: ["purge-protocol/push-of-another-log", "simulation"],
    },
  },
  R25: {
    "a receipt settles by confirmations, even where some readers never confirm": {
      in: "SqlPurgeLog.#watch",
      replace: "Math.max(this.#startedAt + earlierMs, this.#leases.namelessUntil(now))",
      by: "this.#startedAt + earlierMs",
      foundBy: ["purge-protocol/nobody-holds-a-lease", "simulation"],
    },
    "a receipt does not wait for responses of unknown purge state": {
      in: "SqlPurgeLog.#watch",
      replace: "earliest = now + UNKNOWN_MS + skewMs",
      by: "earliest = now + skewMs",
      foundBy: ["purge-protocol/nobody-holds-a-lease", "simulation"],
    },
  },
  R26: {
    "the log sends a purge over no connection": {
      in: "ConnectedLog.push",
      replace: "void this.#pushTo(connection, head, deltas);",
      by: "void connection;",
      foundBy: "purge-protocol/pushed-over-a-connection",
    },
    "the log goes on sending pushes to a reader that answers none": {
      in: "ConnectedLog.#pushTo",
      drop: "if (connection.unansweredBytes >= MAX_UNANSWERED_BYTES) return;",
      foundBy: "purge-protocol/reader-lags",
    },
    "a reader that answers again is sent no push that it had no room for": {
      in: "ConnectedLog.#pushTo",
      replace: "return this.#pushTo(connection, this.#log.head);",
      by: "return;",
      foundBy: "purge-protocol/reader-lags",
    },
    "a purge that is a replay is pushed, though nothing is new": {
      in: "ConnectedLog.#pushTo",
      replace: "if (position === null || (sent?.logId === head.logId && sent.seq === head.seq)) return;",
      by: "if (position === null) return;",
      foundBy: "purge-protocol/replay-is-not-pushed",
    },
  },
};
