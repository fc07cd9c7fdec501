import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules. */
export const mutants: Mutants = {
  "docs/reference/http-api.md#explain": {
    "an explanation names no route": {
      in: "explain",
      replace: "route: resolved.route.pattern,",
      by: "route: null,",
      foundBy: "explain/route-and-key",
    },
    "an explanation does not know that the origin is down": {
      in: "judgeRequest",
      replace: "context.isolate.originState.isDown(ports.clock.now())",
      by: "false",
      foundBy: "explain/origin-down",
    },
    "an explanation says that memory has nothing, where it has a purged page and the shared tier the answer": {
      in: "judgeRequest",
      replace: "remembered && look.stored !== remembered ? [remembered] : []",
      by: "[]",
      foundBy: "explain/purged-in-memory-alone",
    },
    "an explanation does not tell of the purge of a page in memory that the shared tier has replaced": {
      in: "explain:explain",
      replace: "[memory, hit?.head ?? sharedTier]",
      by: "[hit?.head ?? memory ?? sharedTier]",
      foundBy: "explain/purged-in-memory-alone",
    },
    "an explanation does not say why the last answer was not stored": {
      in: "explain",
      replace: "fetch && ports.lastRefusal(resolved.cacheKey)",
      by: "undefined",
      foundBy: "explain/last-refusal",
    },
    "the first refusal of a page is told, not the last": {
      in: "LastRefusals.remember",
      replace: "if (url.length > MAX_CHARACTERS) return;",
      by: "if (this.#refusals.has(url)) return;",
      foundBy: "explain/last-refusal",
    },
    "a refusal is told although the page has been stored since": {
      in: "LastRefusals.forget",
      drop: "this.#refusals.delete(url);",
      foundBy: "explain/last-refusal",
    },
    "an explanation says that the key has all parameters of the URL": {
      in: "droppedOf",
      replace: 'text !== "" && canonicalQuery',
      by: "false && canonicalQuery",
      foundBy: "explain/route-and-key",
    },
    "an explanation calls the URL of another site malformed": {
      in: "explain",
      replace: "resolved.status === 421",
      by: "false",
      foundBy: "explain/route-and-key",
    },
    "an explanation does not say what memory holds": {
      in: "explain",
      replace: "memory: describe(context, memory),",
      by: "memory: null,",
      foundBy: "explain/miss-then-hit",
    },
    "an explanation does not say what the shared tier holds": {
      in: "explain",
      replace: "sharedTier: describe(context, sharedTier),",
      by: "sharedTier: null,",
      foundBy: "explain/miss-then-hit",
    },
    "an explanation gives the lifetime for what is left of it": {
      in: "describe",
      replace: "head.freshnessSeconds - ageMs / 1000",
      by: "head.freshnessSeconds",
      foundBy: "explain/miss-then-hit",
    },
    "an explanation names no tags": {
      in: "describe",
      replace: "tags: tagsOf(head),",
      by: "tags: [],",
      foundBy: "explain/miss-then-hit",
    },
    "an explanation brings what the shared tier knows of a page into memory": {
      in: "explainer",
      replace: "{ ...corridor.ports, store: new UnchangedStore(memory, sharedTier), reporter: DEAF }",
      by: "{ ...corridor.ports, reporter: DEAF }",
      foundBy: "explain/changes-nothing",
    },
    "an explanation forgets what memory holds": {
      in: "UnchangedStore.recall",
      replace: "?? this.#memory.peek(key)",
      by: "",
      foundBy: "explain/purge",
    },
    "an explanation names no purge": {
      in: "explain",
      replace: "await purgeOf(context, [memory, hit?.head ?? sharedTier], ports)",
      by: "null",
      foundBy: "explain/purge",
    },
    "an explanation names a purge where none has touched the page": {
      in: "purgeOf",
      drop: 'if (made !== "purged" && !(made && isMadeStale(made))) continue;',
      foundBy: "explain/purge",
    },
    "an explanation does not say whose the purge was": {
      in: "purgeOf",
      replace: "await ports.findPurge(seq)",
      by: "null",
      foundBy: "explain/purge",
    },
    "an explanation does not say why a stale page answers": {
      in: "outcomeOf",
      replace: 'verdict.kind === "fresh" ? null : verdict.because',
      by: "null",
      foundBy: "explain/stale",
    },
    "an explanation does not say that the origin may confirm what is stored": {
      in: "plannedFetch",
      replace: "validates: sendsConditions && conditionsOf(context, plan.miss) !== null,",
      by: "validates: false,",
      foundBy: "explain/stale",
    },
    "an explanation does not say that a stale page may replace an error": {
      in: "plannedFetch",
      replace: 'plan.kind !== "forward" && selected ? mayStandIn(context, selected.head, "disconnected") : null',
      by: "false",
      foundBy: "explain/stale",
    },
    "an explanation does not say by what a request goes past the cache": {
      in: "stepsOf",
      replace: 'wordsOf(miss).detail ?? (miss.kind === "passed-on" ? miss.because : null)',
      by: '"pass"',
      foundBy: "explain/past-the-cache",
    },
    "an explanation ignores the fields of the pretended request": {
      in: "readPretended",
      replace: "new Fields(Object.entries(fields))",
      by: "new Fields()",
      foundBy: "explain/past-the-cache",
    },
    "an explanation says that the answer to a visitor with cookies is stored like any other": {
      in: "stepsOf",
      replace: "mayStoreAnswer(facts.identity)",
      by: '"yes"',
      foundBy: "explain/request-decides-storing",
    },
    "an explanation does not name the field that keeps the answer from being stored": {
      in: "stepsOf",
      replace: "if (unkeyedField !== null)",
      by: "if (false)",
      foundBy: "explain/request-decides-storing",
    },
    "an explanation says that an answer that is passed on may be stored": {
      in: "stepsOf",
      replace: 'plan.kind === "forward" ||',
      by: "",
      foundBy: "explain/request-decides-storing",
    },
    "an explanation does not say that the request waits for another's fetch": {
      in: "stepsOf",
      drop: 'if (follows) steps.push(step("follow"));',
      foundBy: "explain/another-fetch",
    },
    "an explanation does not say that nobody waits for the fetch of another": {
      in: "stepsOf",
      drop: 'if (isHitForMiss) steps.push(step("hit-for-miss"));',
      foundBy: "explain/another-fetch",
    },
    "an explanation shows a parameter of another visitor's URL that may be a secret": {
      in: "nearest-keys:shown",
      wrap: "(text) => text",
      foundBy: "explain/nearest-keys",
    },
    "an explanation does not name a page whose path differs in letter case alone": {
      in: "nearest-keys:partsOf",
      replace: "pathname.toLowerCase()",
      by: "pathname",
      foundBy: "explain/nearest-keys",
    },
    "an explanation names pages that have little in common with the URL": {
      in: "nearestKeys",
      drop: "if (differsIn.length > MAX_DIFFERENCES) continue;",
      foundBy: "explain/nearest-keys",
    },
    "an explanation does not name the field in which a variant differs": {
      in: "nearestKeys",
      replace: "valueHere(name) === value ? []",
      by: "true ? []",
      foundBy: "explain/nearest-keys",
    },
    "an explanation needs no token": {
      in: "ROUTES",
      replace: 'method: "GET", path: "explain", scope: "read"',
      by: 'method: "GET", path: "explain", scope: null',
      foundBy: "explain/wrong-calls",
    },
  },
};
