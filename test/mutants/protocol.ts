import type { Mutants } from "./mutant.ts";

const FLOW = "worker/flow/corridor.ts";
const FETCH_AND_STORE = "worker/flow/storing/fetch-and-store.ts";
const FOLLOWING = "worker/flow/collapsing/followers.ts";
const FORWARD = "worker/flow/origin/forward.ts";
const FRESHENING = "worker/flow/storing/freshening.ts";
const INVALIDATION = "worker/flow/origin/invalidation.ts";
const INVALIDATIONS = "worker/purges/invalidations.ts";
const JUDGE = "worker/rules/freshness/judge.ts";
const STORAGE_DECISION = "worker/flow/storing/storage-decision.ts";
const LOG = "worker/purges/log/log.ts";
const STALE = "worker/flow/answering/stale-answer.ts";
const STALE_IF_ERROR = "worker/rules/freshness/stale-if-error.ts";
const VIEW = "worker/purges/view/view.ts";
const VIEW_LEASE = "worker/purges/lease/view-lease.ts";

const SILENT_TOO =
  "story 25: while log and origin are both down, what the isolate has not heard of may stand in, as the owner likes";

/** When a change is told: after the origin's answer, or before it is asked. */
const BEFORE_AND_AFTER = {
  right: `const result = await askOrigin(context, { storing: false, conditions: [] });
  await invalidateAfter(context, result);`,
  wrong: `await invalidateAfter(context, { kind: "failed", answer: () => new Response() });
  const result = await askOrigin(context, { storing: false, conditions: [] });`,
};

/** The rules of docs/protocol.md, each taken away. A name begins with its rule's number. */
export const protocol: Mutants = {
  "r1-stamp-of-the-arrival": {
    name: "an entry is stamped with the view that is held when its answer arrives",
    file: STORAGE_DECISION,
    from: "stamp: response.stamp",
    to: "stamp: ports.purges.stamp()",
    reddens: "a purge wins over a fill that began before it: the old answer goes to who asked in time, and is not kept",
  },
  "r1-stamp-of-the-last-byte": {
    name: "an entry is stamped with the view that is held when its body ends",
    file: FETCH_AND_STORE,
    from: "storeUnlessPurged(context, withBody(head, read.bytes), tellFollowers)",
    to: "storeUnlessPurged(context, withBody({ ...head, stamp: context.ports.purges.stamp() }, read.bytes), tellFollowers)",
    reddens: "a purge wins over a fill whose body is half-way",
  },
  "r1-one-purge-late": {
    name: "the next purge after an entry's stamp does not count",
    file: VIEW,
    from: "if (highest > seq) return highest;",
    to: "if (highest > seq + 1) return highest;",
    reddens:
      "a fill that an isolate began before a purge, and lands in the shared tier after it, is refused by the others",
  },
  "r1-refresh-without-a-view": {
    name: "a refresh is fetched without a view where none is held",
    file: FLOW,
    from: "if (!ports.purges.isUsable(ports.clock.now(), null)) await ports.purges.renew(background, null);",
    to: "",
    reddens: "a refresh by an isolate that has just started is kept",
  },
  "r2-stamp-of-the-304": {
    name: "a freshened page is stamped with the view that is held when the 304 arrives",
    file: FRESHENING,
    from: "{ ...verdict.head, purgeKeys",
    to: "{ ...verdict.head, stamp: context.ports.purges.stamp(), purgeKeys",
    reddens: "story 9: a page that was purged while it was validated goes to who asked in time, and is not kept",
  },
  "r2-lease-from-the-304": {
    name: "with the log silent, one lease of a freshened page is counted from the 304",
    file: FRESHENING,
    from: "{ ...verdict.head, purgeKeys",
    to: "{ ...verdict.head, fetchedAt: verdict.head.receivedAt, purgeKeys",
    reddens: "while the log is silent, one lease of a validated page is counted from when its validation was sent off",
  },
  "r2-old-stamp-stays": {
    name: "a freshened page keeps the stamp of its first fetch",
    file: FRESHENING,
    from: "{ ...verdict.head, purgeKeys",
    to: "{ ...verdict.head, stamp: head.stamp, fetchedAt: head.fetchedAt, purgeKeys",
    reddens: "while the log is silent, a page that has just been validated is served for one lease",
  },
  "r2-stamp-of-the-heads-answer": {
    name: "a page that a HEAD confirms is stamped with the view that is held when the answer arrives",
    file: "worker/flow/origin/head-request.ts",
    from: "fields: headers, stamp,",
    to: "fields: headers, stamp: ports.purges.stamp(),",
    reddens: "a page that was purged while a HEAD confirmed it is not kept",
  },
  "r3-any-304-freshens-the-first": {
    name: "a 304 freshens the first page that was offered, whichever it names",
    file: FRESHENING,
    from: "offered[at]",
    to: "offered[0]",
    reddens: "a 304 that names one of several variants freshens that one",
  },
  "r3-oldest-is-validated": {
    name: "of the copies that were found, the oldest is validated",
    file: "worker/flow/miss.ts",
    from: "b.stored.head.fetchedAt - a.stored.head.fetchedAt",
    to: "a.stored.head.fetchedAt - b.stored.head.fetchedAt",
    reddens: "story 10: a 304 freshens what its validator named, and not an older copy in memory",
  },
  "r4-lease-is-not-asked": {
    name: "memory is judged by a view whose lease is over",
    file: FLOW,
    from: "remembered && purges.isUsable(now, token, maxViewAgeMs(context, remembered.head))",
    to: "remembered",
    reddens: "an isolate that does not know of a purge serves the old page until its lease is over, and never after",
  },
  "r5-follower-takes-anything": {
    name: "a follower takes an answer that his own view calls purged",
    file: FOLLOWING,
    from: 'return answer === "not-purged";',
    to: "return true;",
    reddens: "story 1: who asks after the purge does not get the answer of a fetch that began before it",
  },
  "r5-follower-takes-nothing": {
    name: "a follower refuses every fetch that began before he came",
    file: FOLLOWING,
    from: 'return answer === "not-purged";',
    to: "return false;",
    reddens: "a purge of something else costs a fill in flight nothing",
  },
  "r5-follower-takes-the-unknown": {
    name: "with the log silent, a follower takes an answer however long ago its fetch began",
    file: FOLLOWING,
    from: "Math.max(0, arrivedAt - stored.fetchedAt)",
    to: "0",
    reddens: "story 2: while the log is silent, who comes a lease after a fetch began does not get its answer",
  },
  "r5-bearer-takes-the-unknown": {
    name: "with the log silent, the bearer of a token takes an answer that no view has accepted",
    file: FOLLOWING,
    from: "awaitsToken: token !== null",
    to: "awaitsToken: false",
    reddens:
      "while the log is silent, the bearer of a token does not get the answer of a fetch that began before he came",
  },
  "r6-receipt-tells-no-lease": {
    name: "a receipt does not count with the leases that live",
    file: LOG,
    from: "this.#leases.longestLivingMs(now) + purge.skewMs",
    to: "purge.skewMs",
    reddens: "a receipt settles after the longest living lease and the allowance for clocks that differ",
  },
  "r7-no-allowance": {
    name: "a receipt settles without the allowance for clocks that differ",
    file: LOG,
    from: "this.#leases.longestLivingMs(now) + purge.skewMs",
    to: "this.#leases.longestLivingMs(now)",
    reddens: "a receipt settles after the longest living lease and the allowance for clocks that differ",
  },
  "r8-one-lease-from-the-answer": {
    name: "with the log silent, one lease is counted from the answer, not from the question",
    file: JUDGE,
    from: "now - stored.fetchedAt",
    to: "now - stored.receivedAt",
    reddens: "story 7: while the log is silent, one lease is counted from when a slow fetch was sent off",
  },
  "r8-one-lease-and-no-less": {
    name: "with the log silent, what was fetched just one lease ago is served",
    file: "worker/rules/freshness/unknown-purge-state.ts",
    from: "sinceFetchMs < maxViewAgeMs",
    to: "sinceFetchMs <= maxViewAgeMs",
    reddens: "while the log is silent, what was just fetched is served for one lease, and then the origin is asked",
  },
  "r9-bearer-gets-the-unknown": {
    name: "with the log silent, the bearer of a token gets what was fetched just now",
    file: "worker/rules/freshness/unknown-purge-state.ts",
    from: "!awaitsToken && ",
    to: "",
    reddens: "while the log is silent, a token is answered only by what was fetched after it arrived",
  },
  "r9-token-is-not-asked": {
    name: "the bearer of a token is answered from a view that has not come so far",
    file: VIEW_LEASE,
    from: "return after === null || this.#hasReached(after);",
    to: "return true;",
    reddens:
      "who carries the receipt's token sees the new page at once, also from an isolate that has not heard of the purge",
  },
  "r9-false-token-counts": {
    name: "a token that the log does not bear out stays in force",
    file: VIEW_LEASE,
    from: "return hasSucceeded ? null : token;",
    to: "return token;",
    reddens: "a token that is ahead of the log is found false and ignored, whatever log it names",
  },
  "r9-silence-proves": {
    name: "a token counts for nothing while the log is silent",
    file: VIEW_LEASE,
    from: "return hasSucceeded ? null : token;",
    to: "return null;",
    reddens: "while the log is silent, a token is answered only by what was fetched after it arrived",
  },
  "r9-bearer-gets-the-stale": {
    name: "the bearer of a token gets a stale page while it is fetched anew",
    file: JUDGE,
    from: "if (!reuse.mayServeStale || awaitsPurge || authorized || answer",
    to: "if (!reuse.mayServeStale || authorized || answer",
    reddens: "who carries a receipt's token is shown nothing stale",
  },
  "r9-bearer-gets-a-stand-in": {
    name: "the bearer of a token gets a stale page when the origin fails",
    file: STALE_IF_ERROR,
    from: "if (request.awaitsPurge || ",
    to: "if (",
    reddens: "who carries a receipt's token is shown nothing stale when the origin fails",
  },
  "r10-purged-is-validated": {
    name: "the origin is asked to confirm what was purged",
    file: "worker/flow/miss.ts",
    from: '.filter(({ verdict }) => verdict.kind === "validate")',
    to: "",
    reddens: "the origin is not asked to confirm what was purged: it is fetched in full",
  },
  "r12-newcomer-hears-nothing": {
    name: "a reader that holds nothing is told only what comes",
    file: LOG,
    from: "? since.seq : 0",
    to: "? since.seq : to",
    reddens: "a purge survives a restart of the isolate, also for what lies in the shared tier",
  },
  "r15-told-before-it-is-sent": {
    name: "a POST is told to the log before it is sent on",
    file: FORWARD,
    from: BEFORE_AND_AFTER.right,
    to: BEFORE_AND_AFTER.wrong,
    reddens: "story 20: a page that was fetched while a POST was under way is out of date a lease after the POST",
  },
  "r15-lost-answer-is-a-failure": {
    name: "a POST whose answer was lost has changed nothing",
    file: INVALIDATION,
    from: "result.response.status : 200",
    to: "result.response.status : 502",
    reddens: "story 21: a POST whose answer is lost may have changed its page, so all copies go",
  },
  "r15-second-change-is-forgotten": {
    name: "a second POST within a lease is not told",
    file: INVALIDATIONS,
    from: "this.#waiting.add(key);",
    to: "continue;",
    reddens: "a second POST within a lease is told to the log when the lease is over",
  },
  "r15-silence-ends-it": {
    name: "a change that the log did not hear of is not told again",
    file: INVALIDATIONS,
    from: "if (attempt === MAX_ATTEMPTS)",
    to: "if (attempt === 1)",
    reddens: "a POST while the log is silent is told to the log when it speaks again",
  },
  "r15-own-copies-stay": {
    name: "a POST leaves the copies of its own PoP to the log",
    file: INVALIDATION,
    from: "invalidated.map(({ cacheKey }) => ports.store.forget(cacheKey))",
    to: "[]",
    reddens: "a POST takes the page out of its own PoP at once",
  },
  "r15-old-fetch-is-joined": {
    name: "who comes after a POST waits for a fetch that began before it",
    file: INVALIDATION,
    from: "collapsed.abandonKey(cacheKey);",
    to: "{}",
    reddens: "who asks after a POST does not wait for a fetch that began before it, though the log is silent",
  },
  "r16-news-do-not-count": {
    name: "what was checked once is not checked again after news",
    file: VIEW,
    from: "if (hasNews) this.#generation++;",
    to: "",
    reddens: "the user's proof: a stored page outlives its origin, a failed refresh keeps it, a purge ends it",
  },
  "r17-304-takes-tags": {
    name: "a 304 without tags takes those that a page has",
    file: FRESHENING,
    from: "...verdict.head.purgeKeys, ...head.purgeKeys",
    to: "...verdict.head.purgeKeys",
    reddens: "story 24: a 304 without tags does not make a page lose those that it has",
  },
  "r17-304-brings-no-tags": {
    name: "the tags of a 304 are not read",
    file: FRESHENING,
    from: "...verdict.head.purgeKeys, ...head.purgeKeys",
    to: "...head.purgeKeys",
    reddens: "a tag that a 304 brings is one of the page's from then on",
  },
  "r18-purged-is-served": {
    name: "what is known to be purged is served while it is fresh",
    file: JUDGE,
    from: 'if (answer === "purged")',
    to: "if (false)",
    reddens: "the user's proof: a stored page outlives its origin, a failed refresh keeps it, a purge ends it",
  },
  "r18-purged-stands-in": {
    name: "what was purged while the origin was waited for stands in when it fails",
    file: STALE_IF_ERROR,
    from: 'if (answer === "purged" || ',
    to: "if (",
    reddens: "a purge that comes while the origin fails keeps a stale page from standing in",
  },
  "r18-view-of-before": {
    name: "what stands in is judged by the view of before the origin was asked",
    file: STALE,
    from: "if (!purges.isUsable(clock.now(), null)) await purges.renew(background, null);",
    to: "",
    reddens: "a purge that comes while the origin fails keeps a stale page from standing in",
  },
  "r18-silence-is-no-objection": {
    name: "a stale page stands in while the log is silent, though the owner forbids it",
    file: STALE_IF_ERROR,
    from: "isUnknown && !mayStandInWhileUnknown(rules)",
    to: "false",
    reddens: "an owner can forbid that a stale page stands in while nobody knows whether it was purged",
  },
  "r18-silence-is-an-objection": {
    name: "no stale page stands in while the log is silent, though the owner allows it",
    file: STALE_IF_ERROR,
    from: "isUnknown && !mayStandInWhileUnknown(rules)",
    to: "isUnknown",
    reddens: SILENT_TOO,
  },
  "r19-marker-answers-for-its-variants": {
    name: "a variant is not judged, since its marker was found",
    file: "worker/purges/view/view.ts",
    from: "checked.answer = this.#ask(stored, checked);",
    to: 'checked.answer = stored.variant.length === 0 ? this.#ask(stored, checked) : "not-purged";',
    reddens: "story 26: a purge reaches every variant of a page, and each visitor gets his own anew",
  },
  "r19-any-variant-is-selected": {
    name: "the latest variant answers whoever asks",
    file: "worker/rules/variants/vary.ts",
    from: "asked === value;",
    to: "true;",
    reddens: "story 26: a purge reaches every variant of a page, and each visitor gets his own anew",
  },
  "r19-follower-takes-another-variant": {
    name: "who waited for a fetch takes a variant that is not his",
    file: FOLLOWING,
    from: "if (!selects(context, stored)) return null;",
    to: "",
    reddens: "who waits for another one's fetch does not get a variant that is not his",
  },
  "r19-odd-status-is-a-marker": {
    name: "one odd status makes everybody ask for themselves",
    file: "worker/rules/storing/not-stored.ts",
    from: "return status >= 400 && (",
    to: "return false && (",
    reddens: "one request that provokes an error does not make everybody else ask for themselves",
  },
  "r19-failure-is-not-shared": {
    name: "who waited for a fetch that failed asks alone",
    file: "worker/flow/collapsing/collapse.ts",
    from: "if (++failures > 1)",
    to: "if (++failures > 0)",
    reddens: "one request that provokes an error does not make everybody else ask for themselves",
  },
  "r20-caller-does-not-hear": {
    name: "the reply to a purge does not bring the caller's view up to it",
    file: "worker/purges/lease/log-with-view.ts",
    from: "await this.#lease.absorbAndShare(delta, call);",
    to: "void [delta, call];",
    reddens: "a purge can fetch its URLs anew: the refreshed page is stored, and survives its own purge",
  },
  "r20-no-repeat": {
    name: "a purge is not repeated",
    file: LOG,
    from: "due_at <= ?",
    to: "due_at < 0 AND ? > 0",
    reddens: "a purge can be repeated, so that what was fetched from a lagging replica meanwhile goes, too",
  },
  "r22-renewed-too-late": {
    name: "the view is renewed when its lease is over",
    file: VIEW_LEASE,
    from: "const DUE_TO = 0.88;",
    to: "const DUE_TO = 9;",
    reddens: "an isolate renews its view late in the lease, and knows of a purge before the lease is over",
  },
  "r22-renewed-all-the-time": {
    name: "the view is renewed behind every other hit",
    file: VIEW_LEASE,
    from: "const DUE_TO = 0.88;",
    to: "const DUE_TO = -0.5;",
    reddens: "10,000 hits in 10 virtual seconds cost at most 21 reads of the log",
  },
  "r22-renewed-too-early": {
    name: "the view is renewed early in the lease",
    file: VIEW_LEASE,
    from: "const DUE_FROM = 0.7;",
    to: "const DUE_FROM = -0.9;",
    reddens: "an isolate that does not know of a purge serves the old page until its lease is over, and never after",
  },
  "r23-overtaken-is-kept": {
    name: "an answer that is known to be purged is stored",
    file: FETCH_AND_STORE,
    from: "!isWorthStoring(purges.check(stored.head, false))",
    to: "false",
    reddens: "an answer that its own purge has already overtaken is not kept",
  },
  "r23-memory-ends-the-look-up": {
    name: "an entry that fails in memory ends the look-up",
    file: FLOW,
    from: "[selectInMemory(context), found]",
    to: "[selectInMemory(context) ?? found]",
    reddens: "a page that another isolate has fetched anew is found behind the purged one in memory",
  },
};
