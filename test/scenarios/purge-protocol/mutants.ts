import type { Mutants } from "../../mutants/mutant.ts";

const CORRIDOR = "worker/flow/corridor.ts";
const FETCH_AND_STORE = "worker/flow/storing/fetch-and-store.ts";
const FOLLOWING = "worker/flow/collapsing/followers.ts";
const FORWARD = "worker/flow/origin/forward.ts";
const FRESHENING = "worker/flow/storing/freshening.ts";
const INVALIDATION = "worker/flow/origin/invalidation.ts";
const INVALIDATIONS = "worker/purges/invalidations.ts";
const JUDGE = "worker/rules/freshness/judge.ts";
const LOG = "worker/purges/log/sql-purge-log.ts";
const POP_SHARING = "worker/purges/lease/pop-sharing.ts";
const STALE_ANSWER = "worker/flow/answering/stale-answer.ts";
const STALE_IF_ERROR = "worker/rules/freshness/stale-if-error.ts";
const STORAGE_DECISION = "worker/flow/storing/storage-decision.ts";
const VIEW = "worker/purges/view/purge-view.ts";
const LEASED_VIEW = "worker/purges/lease/leased-view.ts";
const LEASE_TIMING = "worker/purges/lease/lease-timing.ts";
const RENEWAL = "worker/purges/lease/renewal.ts";
const RELAY = "worker/purges/relay/relay.ts";
const FOLLOWED_LOG = "worker/purges/relay/followed-log.ts";
const CONNECTED_LOG = "worker/purges/log/connected-log.ts";
const VIEW_LEASE = "worker/purges/lease/view-lease.ts";

/** A POST is written to the log after the origin's answer, or wrongly before the request. */
const RECEIPT_SETTLES = { file: LOG, from: "this.#leases.longestLivingMs(now) + purge.skewMs" };
const OLDER_REPLACES = {
  file: VIEW,
  from: "} else if (delta.from > this.#seq) {",
  to: "} else if (delta.to < this.#seq) {\n      this.#begin(delta.logId);\n    } else if (delta.from > this.#seq) {",
};

/** The rules of docs/protocol.md, each taken away. Each name begins with the number of its rule, such as `r5-`. */
export const mutants: Mutants = {
  "r1-stamp-of-the-arrival": {
    name: "an entry is stamped with the view that is held when its answer arrives",
    file: STORAGE_DECISION,
    from: "stamp: response.stamp",
    to: "stamp: ports.purges.stamp()",
    reddens: "purge-protocol/purge-during-fill",
  },
  "r1-stamp-of-the-last-byte": {
    name: "an entry is stamped with the view that is held when its body ends",
    file: FETCH_AND_STORE,
    from: "storeUnlessPurged(context, withBody(head, read.bytes), tellFollowers)",
    to: "storeUnlessPurged(context, withBody({ ...head, stamp: context.ports.purges.stamp() }, read.bytes), tellFollowers)",
    reddens: "purge-protocol/purge-during-body",
  },
  "r1-one-purge-late": {
    name: "the next purge after an entry's stamp does not count",
    file: VIEW,
    from: "if (highest > seq) return highest;",
    to: "if (highest > seq + 1) return highest;",
    reddens: "purge-protocol/late-fill-in-shared-tier",
  },
  "r1-refresh-without-a-view": {
    name: "a refresh is fetched without a view where none is held",
    file: CORRIDOR,
    from: "if (!ports.purges.isUsable(ports.clock.now(), null)) await ports.purges.renew(background, null);",
    to: "",
    reddens: "purging/refresh-by-new-isolate",
  },
  "r2-stamp-of-the-304": {
    name: "a freshened page is stamped with the view that is held when the 304 arrives",
    file: FRESHENING,
    from: "{ ...verdict.head, purgeKeys",
    to: "{ ...verdict.head, stamp: context.ports.purges.stamp(), purgeKeys",
    reddens: "validation/purged-while-validated",
  },
  "r2-lease-from-the-304": {
    name: "while the log is silent, the one lease of a freshened page is counted from the 304",
    file: FRESHENING,
    from: "{ ...verdict.head, purgeKeys",
    to: "{ ...verdict.head, fetchedAt: verdict.head.receivedAt, purgeKeys",
    reddens: "validation/silent-log-slow-validation",
  },
  "r2-old-stamp-stays": {
    name: "a freshened page keeps the stamp of its first fetch",
    file: FRESHENING,
    from: "{ ...verdict.head, purgeKeys",
    to: "{ ...verdict.head, stamp: head.stamp, fetchedAt: head.fetchedAt, purgeKeys",
    reddens: "validation/silent-log-just-validated",
  },
  "r2-stamp-of-the-heads-answer": {
    name: "a page that a HEAD confirms is stamped with the view that is held when the answer arrives",
    file: "worker/flow/origin/head-request.ts",
    from: "fields, stamp,",
    to: "fields, stamp: ports.purges.stamp(),",
    reddens: "freshening/purged-while-head-confirms",
  },
  "r3-oldest-is-validated": {
    name: "of the copies that were found, the oldest is validated",
    file: "worker/flow/miss.ts",
    from: "b.stored.head.fetchedAt - a.stored.head.fetchedAt",
    to: "a.stored.head.fetchedAt - b.stored.head.fetchedAt",
    reddens: "freshening/304-and-older-copy",
  },
  "r4-lease-is-not-asked": {
    name: "memory is judged by a view whose lease is over",
    file: "worker/flow/looking-up.ts",
    from: "const isUsable = purges.isUsable(now, token, maxViewAgeMs(context, remembered.head));",
    to: "const isUsable = true;",
    reddens: "purge-protocol/old-page-until-lease-ends",
  },
  "r5-follower-takes-anything": {
    name: "a follower takes an answer that its own view calls purged",
    file: FOLLOWING,
    from: 'return answer === "not-purged";',
    to: "return true;",
    reddens: "purge-protocol/follower-after-purge",
  },
  "r5-follower-takes-nothing": {
    name: "a follower refuses every fetch that began before it arrived",
    file: FOLLOWING,
    from: 'return answer === "not-purged";',
    to: "return false;",
    reddens: "purge-protocol/unrelated-purge-during-fill",
  },
  "r5-follower-takes-the-unknown": {
    name: "while the log is silent, a follower takes an answer, however long ago its fetch began",
    file: FOLLOWING,
    from: "Math.max(0, arrivedAt - stored.fetchedAt)",
    to: "0",
    reddens: "purge-protocol/silent-log-late-follower",
  },
  "r5-bearer-takes-the-unknown": {
    name: "while the log is silent, a request with a token takes an answer that no view has accepted",
    file: FOLLOWING,
    from: "awaitsToken: token !== null",
    to: "awaitsToken: false",
    reddens: "purge-protocol/silent-log-token-follower",
  },
  "r6-receipt-tells-no-lease": {
    name: "a receipt does not wait for the leases that are held",
    file: LOG,
    from: "this.#leases.longestLivingMs(now) + purge.skewMs",
    to: "purge.skewMs",
    reddens: "purge-protocol/receipt-waits-for-leases",
  },
  "r7-no-allowance": {
    name: "a receipt settles without the allowance for differing clocks",
    file: LOG,
    from: "this.#leases.longestLivingMs(now) + purge.skewMs",
    to: "this.#leases.longestLivingMs(now)",
    reddens: "purge-protocol/receipt-waits-for-leases",
  },
  "r8-one-lease-from-the-answer": {
    name: "while the log is silent, the one lease is counted from the answer, not from the request",
    file: JUDGE,
    from: "now - stored.fetchedAt",
    to: "now - stored.receivedAt",
    reddens: "purge-protocol/silent-log-slow-fetch",
  },
  "r8-one-lease-and-no-less": {
    name: "while the log is silent, a page that was fetched exactly one lease ago is served",
    file: "worker/rules/freshness/unknown-purge-state.ts",
    from: "sinceFetchMs < maxViewAgeMs",
    to: "sinceFetchMs <= maxViewAgeMs",
    reddens: "purge-protocol/silent-log-one-lease",
  },
  "r8-newcomer-serves-for-a-lease": {
    name: "an isolate that has never read the log serves what it has fetched for a lease while the log is silent",
    file: VIEW_LEASE,
    from: "const isRemembered = ",
    to: "const isRemembered = this.name === undefined || ",
    reddens: "purge-protocol/silent-log-newcomer",
  },
  "r25-nameless-readers-do-not-count": {
    name: "a receipt settles by confirmations, even where some readers never confirm",
    file: LOG,
    from: "first === undefined && !this.#leases.mayHaveNameless(now)",
    to: "first === undefined",
    reddens: "purge-protocol/nobody-holds-a-lease",
  },
  "r9-bearer-gets-the-unknown": {
    name: "while the log is silent, a request with a token gets a page that was just fetched",
    file: "worker/rules/freshness/unknown-purge-state.ts",
    from: "!awaitsToken && ",
    to: "",
    reddens: "purge-protocol/silent-log-token",
  },
  "r9-token-is-not-asked": {
    name: "a request with a token is answered from a view that has not come so far",
    file: VIEW_LEASE,
    from: "return after === null || this.#leased.hasReached(after);",
    to: "return true;",
    reddens: "purge-protocol/token-at-another-isolate",
  },
  "r9-false-token-counts": {
    name: "a token that the log does not confirm stays in force",
    file: VIEW_LEASE,
    from: "return hasSucceeded ? null : token;",
    to: "return token;",
    reddens: "purge-protocol/token-ahead-of-log",
  },
  "r9-silence-proves": {
    name: "a token has no effect while the log is silent",
    file: VIEW_LEASE,
    from: "return hasSucceeded ? null : token;",
    to: "return null;",
    reddens: "purge-protocol/silent-log-token",
  },
  "r9-bearer-gets-the-stale": {
    name: "a request with a token gets a stale page while it is refetched",
    file: JUDGE,
    from: "if (!reuse.mayServeStale || awaitsPurge || authorized || answer",
    to: "if (!reuse.mayServeStale || authorized || answer",
    reddens: "stale-while-revalidate/with-earlier-token",
  },
  "r9-bearer-gets-stale-on-error": {
    name: "a request with a token gets a stale page when the origin fails",
    file: STALE_IF_ERROR,
    from: "if (request.awaitsPurge || ",
    to: "if (",
    reddens: "stale-if-error/with-earlier-token",
  },
  "r10-purged-is-validated": {
    name: "the origin is asked to confirm a purged page",
    file: "worker/flow/miss.ts",
    from: '.filter(({ verdict }) => verdict.kind === "validate")',
    to: "",
    reddens: "validation/purged-is-fetched-in-full",
  },
  "r12-newcomer-hears-nothing": {
    name: "a reader that holds nothing is told only the purges that follow",
    file: LOG,
    from: "? since.seq : 0",
    to: "? since.seq : to",
    reddens: "purge-protocol/purge-survives-restart",
  },
  "r15-told-before-it-is-sent": {
    name: "a POST is written to the log before it is forwarded",
    file: FORWARD,
    from: `const result = await askOrigin(context, { storing: false, conditions: [] });
  await invalidateAfter(context, result);`,
    to: `await invalidateAfter(context, { kind: "failed", answer: () => new Response() });
  const result = await askOrigin(context, { storing: false, conditions: [] });`,
    reddens: "invalidation-log/fetched-during-post",
  },
  "r15-lost-answer-is-a-failure": {
    name: "a POST whose answer is lost invalidates nothing",
    file: INVALIDATION,
    from: "result.response.status : 200",
    to: "result.response.status : 502",
    reddens: "invalidation-log/answer-is-lost",
  },
  "r15-second-change-is-forgotten": {
    name: "a second POST within a lease is not written to the log",
    file: INVALIDATIONS,
    from: "this.#waiting.add(key);",
    to: "continue;",
    reddens: "invalidation-log/second-post-reaches-log",
  },
  "r15-silence-ends-it": {
    name: "an invalidation that the log did not receive is not sent again",
    file: INVALIDATIONS,
    from: "if (attempt === MAX_ATTEMPTS)",
    to: "if (attempt === 1)",
    reddens: "invalidation-log/post-while-log-silent",
  },
  "r15-own-copies-stay": {
    name: "a POST leaves the copies in its own PoP to the log",
    file: INVALIDATION,
    from: "invalidated.map(({ cacheKey }) => ports.store.forget(cacheKey))",
    to: "[]",
    reddens: "invalidation-log/own-pop-at-once",
  },
  "r15-old-fetch-is-joined": {
    name: "a request after a POST waits for a fetch that began before it",
    file: INVALIDATION,
    from: "collapsed.abandonPage(cacheKey);",
    to: "{}",
    reddens: "invalidation-log/follower-log-silent",
  },
  "r16-news-do-not-count": {
    name: "an entry that was checked once is not checked again after newer purges",
    file: VIEW,
    from: "if (hasNews) this.#generation++;",
    to: "",
    reddens: "purging/outlives-its-origin",
  },
  "r17-304-takes-tags": {
    name: "a 304 without tags removes a page's tags",
    file: FRESHENING,
    from: "...verdict.head.purgeKeys, ...head.purgeKeys",
    to: "...verdict.head.purgeKeys",
    reddens: "freshening/304-without-tags",
  },
  "r17-304-brings-no-tags": {
    name: "the tags of a 304 are not read",
    file: FRESHENING,
    from: "...verdict.head.purgeKeys, ...head.purgeKeys",
    to: "...head.purgeKeys",
    reddens: "freshening/304-adds-a-tag",
  },
  "r18-purged-is-served": {
    name: "a page that is known to be purged is served while it is fresh",
    file: JUDGE,
    from: 'if (answer === "purged")',
    to: "if (false)",
    reddens: "purging/outlives-its-origin",
  },
  "r18-purged-is-stale-on-error": {
    name: "a page that was purged while the origin was awaited is served when the origin fails",
    file: STALE_IF_ERROR,
    from: 'if (answer === "purged" || ',
    to: "if (",
    reddens: "stale-if-error/purged-while-origin-fails",
  },
  "r18-view-of-before": {
    name: "a stale page is judged by the view from before the origin was asked",
    file: STALE_ANSWER,
    from: "if (!purges.isUsable(clock.now(), null)) await purges.renew(background, null);",
    to: "",
    reddens: "stale-if-error/purged-while-origin-fails",
  },
  "r18-silence-is-no-objection": {
    name: "a stale page is served while the log is silent, although the owner forbids it",
    file: STALE_IF_ERROR,
    from: "isUnknown && !mayStandInWhileUnknown(rules)",
    to: "false",
    reddens: "stale-if-error/forbidden-while-purge-unknown",
  },
  "r18-silence-is-an-objection": {
    name: "no stale page is served while the log is silent, although the owner allows it",
    file: STALE_IF_ERROR,
    from: "isUnknown && !mayStandInWhileUnknown(rules)",
    to: "isUnknown",
    reddens: "stale-if-error/unknown-purge-log-silent",
  },
  "r19-marker-answers-for-its-variants": {
    name: "a variant is not judged once its marker was found",
    file: "worker/purges/view/purge-view.ts",
    from: "checked.answer = this.#findAnswer(stored, checked);",
    to: 'checked.answer = stored.variant.length === 0 ? this.#findAnswer(stored, checked) : "not-purged";',
    reddens: "variants/purge-reaches-every-variant",
  },
  "r19-any-variant-is-selected": {
    name: "the latest variant answers every request",
    file: "worker/rules/variants/vary.ts",
    from: "asked === value;",
    to: "true;",
    reddens: "variants/purge-reaches-every-variant",
  },
  "r19-follower-takes-another-variant": {
    name: "a follower takes a variant that it did not select",
    file: FOLLOWING,
    from: "if (!selects(context, stored)) return null;",
    to: "",
    reddens: "variants/follower-of-another-variant",
  },
  "r19-odd-status-is-a-marker": {
    name: "one error that a request provoked makes every request fetch for itself",
    file: "worker/rules/storing/not-stored.ts",
    from: "return status >= 400 && (",
    to: "return false && (",
    reddens: "collapsing/error-of-one-request",
  },
  "r19-failure-is-not-shared": {
    name: "a follower of a fetch that failed fetches alone",
    file: "worker/flow/collapsing/collapse.ts",
    from: "attempt.hasFailed ? fetchAlone()",
    to: "true ? fetchAlone()",
    reddens: "collapsing/error-of-one-request",
  },
  "r20-caller-does-not-hear": {
    name: "the reply to a purge does not bring the caller's view up to date",
    file: "worker/purges/lease/read-your-writes-log.ts",
    from: "await this.#lease.takeReplyAndShare(delta, call);",
    to: "void [delta, call];",
    reddens: "purging/refresh-with-purge",
  },
  "r20-no-repeat": {
    name: "a purge is not repeated",
    file: LOG,
    from: "due_at <= ?",
    to: "due_at < 0 AND ? > 0",
    reddens: "purging/repeated-purge",
  },
  "r22-renewed-too-late": {
    name: "the view is renewed only when its lease is over",
    file: LEASE_TIMING,
    from: "const DUE_TO = 0.88;",
    to: "const DUE_TO = 9;",
    reddens: "purge-protocol/renewal-late-in-lease",
  },
  "r22-renewed-all-the-time": {
    name: "the view is renewed behind every other hit",
    file: LEASE_TIMING,
    from: "const DUE_TO = 0.88;",
    to: "const DUE_TO = -0.5;",
    reddens: "purge-protocol/log-reads-for-hits",
  },
  "r22-renewed-too-early": {
    name: "the view is renewed early in the lease",
    file: LEASE_TIMING,
    from: "const DUE_FROM = 0.7;",
    to: "const DUE_FROM = -0.9;",
    reddens: "purge-protocol/old-page-until-lease-ends",
  },
  "r23-overtaken-is-kept": {
    name: "an answer that is known to be purged is stored",
    file: "worker/flow/storing/store-unless-purged.ts",
    from: "!isWorthStoring(purges.check(stored.head))",
    to: "false",
    reddens: "purge-protocol/purged-before-arrival",
  },
  "r23-memory-ends-the-look-up": {
    name: "an unusable entry in memory ends the look-up",
    file: "worker/flow/looking-up.ts",
    from: "[selectInMemory(context), found]",
    to: "[selectInMemory(context) ?? found]",
    reddens: "purge-protocol/refetched-by-another-isolate",
  },
  "r22-view-is-not-shared": {
    name: "an isolate keeps its reads of the log to itself",
    file: RENEWAL,
    from: "copy && this.#pop.publish(copy)",
    to: "undefined",
    reddens: "purge-protocol/view-shared-in-pop",
  },
  "r22-purge-is-not-shared": {
    name: "the reply to a purge is not shared with the other isolates of the PoP",
    file: VIEW_LEASE,
    from: "await this.#pop.publishSoon(this.#leased.copyAfter(delta.leaseMs, call));",
    to: "return;",
    reddens: "purge-protocol/purge-known-by-sharing",
  },
  "r22-shared-view-is-ageless": {
    name: "the age of a shared view does not count: a lease begins when it is taken",
    file: LEASED_VIEW,
    from: 'this.#extendLease(startedAt, delta.leaseMs);\n    this.#reporter.report({ kind: "view-shared" });',
    to: 'this.#extendLease(now, delta.leaseMs);\n    this.#reporter.report({ kind: "view-shared" });',
    reddens: "purge-protocol/shared-view-keeps-its-age",
  },
  "r22-claim-never-ends": {
    name: "a claim to read the log never ends",
    file: POP_SHARING,
    from: "Math.max(0, Math.min(maxMs, maxMs - ageMs))",
    to: "maxMs || 1",
    reddens: "purge-protocol/old-page-until-lease-ends",
  },
  "r6-receipt-forgets-the-bound": {
    name: "a receipt ignores routes that let a purge arrive late",
    file: LOG,
    from: "this.#grant(reader, Math.max(purge.leaseMs, purge.longestViewAgeMs ?? 0), now);",
    to: "this.#grant(reader, purge.leaseMs, now);",
    reddens: "purge-protocol/receipt-and-late-routes",
  },
  "r6-every-purge-may-come-late": {
    name: "the rule for immutable pages applies to all pages",
    file: "worker/flow/judging.ts",
    from: "reuse.immutable ? maxViewAgeImmutableMs : maxViewAgeMs",
    to: "reuse ? maxViewAgeImmutableMs : maxViewAgeMs",
    reddens: "purge-protocol/late-immutable-pages",
  },
  "r6-bound-has-no-end": {
    name: "a route that lets a purge arrive late is judged by a view one millisecond too old",
    file: LEASE_TIMING,
    from: "now < this.#startedAt + Math.min(",
    to: "now <= this.#startedAt + Math.min(",
    reddens: "purge-protocol/late-route-log-silent",
  },
  "r6-bound-ends-with-the-lease": {
    name: "while the log is silent, a page of a route that lets a purge arrive late counts for one lease only",
    file: VIEW_LEASE,
    from: "Math.max(this.leaseMs, maxViewAgeMs)",
    to: "this.leaseMs",
    reddens: "purge-protocol/late-route-log-silent",
  },
  "r6-late-is-not-renewed": {
    name: "a view whose lease is over is not renewed behind a page that may still be judged by it",
    file: LEASE_TIMING,
    from: "return now >= this.#dueAt && now >= this.#probeAt;",
    to: "return now >= this.#dueAt && now >= this.#probeAt && now < this.#usableUntil;",
    reddens: "purge-protocol/late-route",
  },
  "r6-bearer-gets-the-late": {
    name: "a request with a token gets the old page of a route that lets a purge arrive late",
    file: VIEW_LEASE,
    from: "return after === null || this.#leased.hasReached(after);",
    to: "return after === null || maxViewAgeMs > 0 || this.#leased.hasReached(after);",
    reddens: "purge-protocol/late-route-token",
  },
  "r4-look-up-is-judged-as-of-before": {
    name: "an entry is judged by the view and the time of when its look-up began",
    file: "worker/flow/looking-up.ts",
    from: `  if (!purges.isUsable(clock.now(), token)) token = await purges.renew(background, token);
  return { found, choice: choose(context, found, token), token };`,
    to: `  const then = { now: () => context.arrivedAt, wait: (ms: number) => clock.wait(ms) };
  return { found, choice: choose({ ...context, ports: { ...ports, clock: then } }, found, token), token };`,
    reddens: "purge-protocol/look-up-outlasts-lease",
  },
  "r9-token-of-any-log": {
    name: "a token is compared by number with the view of any log",
    file: LEASED_VIEW,
    from: "position.logId === token.logId && position.seq",
    to: "position.seq",
    reddens: "purge-protocol/token-of-new-log",
  },
  "r9-known-silence-ends-tokens": {
    name: "a token has no effect once the log is known to be silent",
    file: VIEW_LEASE,
    from: "if (this.#timing.hasFailed(this.#clock.now())) return token;",
    to: "if (this.#timing.hasFailed(this.#clock.now())) return null;",
    reddens: "purge-protocol/silent-log-token-bearer",
  },
  "r8-known-purge-is-unknown": {
    name: "while the log is silent, a page that is known to be purged counts as unknown",
    file: VIEW,
    from: 'if (checked.answer === "not-purged") return "unknown";',
    to: 'return "unknown";',
    reddens: "purge-protocol/log-lost-after-purge",
  },
  "r12-left-out-counts-as-told": {
    name: "a shared view that had no room for the oldest purges claims to have them",
    file: "worker/purges/lease/recent-purges.ts",
    from: "return { ...rest, from: firstLeftOut,",
    to: "return { ...rest, from: base?.from ?? readFrom,",
    reddens: "purge-protocol/gap-in-shared-view",
  },
  "r11-older-reply-replaces-the-view": {
    name: "a late reply of the log replaces newer knowledge",
    ...OLDER_REPLACES,
    reddens: "purge-protocol/late-reply-of-log",
  },
  "r11-older-shared-view-replaces-the-view": {
    name: "a late shared view replaces newer knowledge",
    ...OLDER_REPLACES,
    reddens: "purge-protocol/late-shared-view",
  },
  "r11-shared-view-leads-to-another-log": {
    name: "a shared view makes an isolate take another log for its own",
    file: LEASED_VIEW,
    from: "if (position !== null && position.logId !== delta.logId) return false;",
    to: "",
    reddens: "purge-protocol/late-view-of-old-log",
  },
  "r1-first-view-stamps": {
    name: "a page that was fetched without a view is stamped with the first one that comes",
    file: "worker/flow/storing/storage-decision.ts",
    from: "stamp: response.stamp",
    to: "stamp: response.stamp ?? ports.purges.stamp()",
    reddens: "purge-protocol/fetch-before-first-view",
  },
  "r13-numbers-are-used-twice": {
    name: "a log whose storage went back goes on under the same id",
    file: LOG,
    from: "if (since?.logId !== id || since.seq <= head) return;",
    to: "return;",
    reddens: "purge-protocol/log-set-back",
  },
  "r14-log-goes-by-its-memory": {
    name: "a log object relies on its memory as long as it has written nothing itself",
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
    reddens: "purge-protocol/log-taken-over",
  },
  "r6-receipt-counts-with-the-callers-lease": {
    name: "a receipt counts only the lease of the isolate that purges",
    ...RECEIPT_SETTLES,
    to: "purge.leaseMs + purge.skewMs",
    reddens: "purge-protocol/deployment-shortens-lease",
  },
  "r7-receipt-trusts-every-clock": {
    name: "a receipt assumes that the clocks of a PoP agree",
    ...RECEIPT_SETTLES,
    to: "this.#leases.longestLivingMs(now)",
    reddens: "purge-protocol/clocks-within-allowance",
  },
  "r7-shared-view-begins-a-lease": {
    name: "a lease begins when a shared view is taken, not when its read began",
    file: LEASED_VIEW,
    from: 'this.#extendLease(startedAt, delta.leaseMs);\n    this.#reporter.report({ kind: "view-shared" });',
    to: 'this.#extendLease(now, delta.leaseMs);\n    this.#reporter.report({ kind: "view-shared" });',
    reddens: "purge-protocol/clocks-beyond-allowance",
  },
  "r3-found-is-stamped-anew": {
    name: "an entry from the shared tier is stamped with the view that finds it",
    file: "worker/flow/looking-up.ts",
    from: "const found = await looked;",
    to: `const found = await looked;
  if (found && !selectInMemory(context)) Object.assign(found.head, { stamp: purges.stamp() });`,
    reddens: "purge-protocol/entry-keeps-its-stamp",
  },
  "r16-equal-number-is-enough": {
    name: "an entry is not checked again where the sequence number is the same",
    file: VIEW,
    from: `if (checked.generation !== this.#generation) {
      checked.answer = this.#findAnswer(stored, checked);
      checked.generation = this.#generation;`,
    to: `if (checked.generation !== this.#seq) {
      checked.answer = this.#findAnswer(stored, checked);
      checked.generation = this.#seq;`,
    reddens: "purge-protocol/new-log-same-number",
  },
  "r13-pages-of-any-log": {
    name: "an entry that another log stamped is judged by its number",
    file: VIEW,
    from: "stamp.logId !== this.#logId || ",
    to: "",
    reddens: "purge-protocol/log-renamed",
  },
  "r21-cancelled-read-is-waited-for": {
    name: "a request that waits for a read of the log waits until it ends",
    file: RENEWAL,
    from: "reading.hasSucceeded, tooSlow)",
    to: "reading.hasSucceeded, () => (tooSlow(), new Promise<boolean>(() => undefined)))",
    reddens: "purge-protocol/cancelled-renewal",
  },
  "r21-cancelled-read-is-joined": {
    name: "no read of the log begins before the last one has ended",
    file: RENEWAL,
    from: "return reading !== null && now - reading.startedAt < this.#timing.leaseMs;",
    to: "return reading !== null;",
    reddens: "purge-protocol/cancelled-renewal",
  },
  "r21-late-answer-is-a-recovery": {
    name: "a reply of the log that comes after its lease clears the memory of the failure",
    file: LEASE_TIMING,
    from: "if (usableUntil > now) {",
    to: "if (usableUntil > 0) {",
    reddens: "purge-protocol/log-slower-than-lease",
  },
  "r24-gap-is-confirmed": {
    name: "an isolate confirms a push that it could not take in",
    file: VIEW_LEASE,
    from: "if (this.#leased.takePush(delta)) return true;",
    to: "this.#leased.takePush(delta);\n    if (delta) return true;",
    reddens: "purge-protocol/push-after-gap",
  },
  "r24-push-is-not-taken-in": {
    name: "a push is confirmed by what the view had reached before",
    file: LEASED_VIEW,
    from: "if (!this.#view.apply(delta)) return false; // it does not connect to the view (R12)\n    this.#callsBeforeView",
    to: "if (delta.from > position.seq) return false;\n    this.#callsBeforeView",
    reddens: "purge-protocol/pushed-purge-holds-at-once",
  },
  "r24-push-extends-the-lease": {
    name: "a push extends the lease, as a reply of the log does",
    file: LEASED_VIEW,
    from: "  takePush(delta: ViewDelta): boolean {\n",
    to: "  takePush(delta: ViewDelta): boolean {\n    this.#extendLease(this.#clock.now(), this.#timing.leaseMs);\n",
    reddens: "purge-protocol/push-extends-no-lease",
  },
  "r24-push-of-any-log": {
    name: "a push of another log is confirmed, and the view stays with the log that it knows",
    file: LEASED_VIEW,
    from: "      this.#timing.end(); // one of the two logs has been replaced, and only a new read can tell which one\n      return false;",
    to: "      return true;",
    reddens: "purge-protocol/push-of-another-log",
  },
  "r25-unknown-use-does-not-count": {
    name: "a receipt does not wait for responses of unknown purge state",
    file: "worker/purges/log/lease-book.ts",
    from: "earliest = now + UNKNOWN_MS + skewMs",
    to: "earliest = now + skewMs",
    reddens: "purge-protocol/nobody-holds-a-lease",
  },
  "r26-push-goes-nowhere": {
    name: "the log sends a purge over no connection",
    file: CONNECTED_LOG,
    from: "void this.#pushTo(connection, head, deltas);",
    to: "void connection;",
    reddens: "purge-protocol/pushed-over-a-connection",
  },
  "r26-unanswered-pushes-without-limit": {
    name: "the log goes on sending pushes to a reader that answers none",
    file: CONNECTED_LOG,
    from: "if (connection.unansweredBytes >= MAX_UNANSWERED_BYTES) return;",
    to: "",
    reddens: "purge-protocol/reader-lags",
  },
  "r26-answer-brings-on-nothing": {
    name: "a reader that answers again is sent no push that it had no room for",
    file: CONNECTED_LOG,
    from: "return this.#pushTo(connection, this.#log.head);",
    to: "return;",
    reddens: "purge-protocol/reader-lags",
  },
  "r26-replay-is-pushed": {
    name: "a purge that is a replay is pushed, though nothing is new",
    file: CONNECTED_LOG,
    from: "if (position === null || (sent?.logId === head.logId && sent.seq === head.seq)) return;",
    to: "if (position === null) return;",
    reddens: "purge-protocol/replay-is-not-pushed",
  },
  // No promise breaks by it, so no world finds it: a purge that is not sent on is not confirmed, and settles late.
  "r27-relay-keeps-a-purge": {
    name: "a relay sends its readers no purges",
    file: RELAY,
    from: "if (hasNews) this.#connected.push();",
    to: "",
    reddens: "purge-protocol/pushed-through-a-relay",
  },
  "r27-taken-in-counts-as-confirmed": {
    name: "a relay confirms what it has taken in, whether or not its readers have",
    file: FOLLOWED_LOG,
    from: "if (at > this.#now()) break;",
    to: "",
    reddens: "purge-protocol/relay-waits-for-its-readers",
  },
  // Nor by this one, by which every purge settles late.
  "r27-confirmation-is-lost": {
    name: "a relay does not tell the log that its readers have confirmed a purge",
    file: FOLLOWED_LOG,
    from: "if (this.#pending.has(seq)) this.#pending.set(seq, this.#now());",
    to: "void seq;",
    reddens: "purge-protocol/relay-waits-for-its-readers",
  },
  "r27-answers-while-cut-off": {
    name: "a relay answers by what it knows, however long ago it has read the log",
    file: RELAY,
    from: "ageMs <= RELAY_AGE_MS && ",
    to: "",
    reddens: "purge-protocol/relay-has-lost-the-log",
  },
  "r27-age-does-not-count": {
    name: "the log does not count with the age of what a relay knows",
    file: "worker/purges/log/log-contract.ts",
    from: "return RELAY_AGE_MS + skewMs;",
    to: "return 0;",
    reddens: "purge-protocol/relay-has-lost-the-log",
  },
  "r27-restarted-relay-goes-on": {
    name: "a relay that has restarted confirms under the name of the one before",
    file: RELAY,
    from: "this.#name = `relay ${random()}`;",
    to: "this.#name = `relay ${random() * 0}`;",
    reddens: "purge-protocol/relay-has-forgotten",
  },
  "r27-reader-of-a-newer-log-goes-back": {
    name: "a relay answers a reader of another log by what it has read before",
    file: RELAY,
    from: "isOfAnotherLog ? this.#readsBegun + 1 : 1",
    to: "1",
    reddens: "purge-protocol/relay-of-an-older-log",
  },
  // Nor by this one: each reply of the log then begins above what the relay has of that log, and is refused. So the relay
  // confirms nothing and soon grants nothing, and readers lose all that they have stored.
  "r27-reader-ahead-makes-a-log": {
    name: "a reader that is ahead of a relay makes the relay's copy another log",
    file: FOLLOWED_LOG,
    from: "isAhead ? { ...position, seq, unread: null } : position",
    to: "position",
    reddens: "purge-protocol/reader-ahead-of-its-relay",
  },
  "r27-grants-after-its-release": {
    name: "a relay that has given up its lease grants leases by what it has read before",
    file: RELAY,
    from: "    this.#readAt = NEVER;\n",
    to: "",
    reddens: "purge-protocol/relay-without-readers",
  },
};
