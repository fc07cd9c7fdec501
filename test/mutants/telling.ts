import type { Mutants } from "./mutant.ts";

const CACHE_STATUS = "worker/rules/forwarding/cache-status.ts";

/** Wrong rules of what an answer tells about itself. */
export const telling: Mutants = {
  "inner-caches-are-forgotten": {
    name: "our member replaces those of the caches behind us",
    file: "worker/flow/answering/answers.ts",
    from: 'fields.append("cache-status"',
    to: 'fields.set("cache-status"',
    reddens: "an origin's own Cache-Status is kept, and ours comes after it",
  },
  "ttl-is-not-told": {
    name: "a hit does not tell how long it stays fresh",
    file: CACHE_STATUS,
    from: "; ttl=$",
    to: "; lifetime=$",
    reddens: "a fresh response is answered from store, with its age",
  },
  "method-is-not-the-reason": {
    name: "a method that is written through is told as a bypass",
    file: "worker/flow/corridor.ts",
    from: '? "bypass" : "method"',
    to: '? "bypass" : "bypass"',
    reddens: "POST goes to the origin with its body and is never answered from store",
  },
  "stored-is-not-told": {
    name: "an answer that is being stored does not say so",
    file: CACHE_STATUS,
    from: 'outcome.stored ? "; stored" : ""',
    to: '""',
    reddens: "a fresh response is answered from store, with its age",
  },
  "too-large-is-told-as-stored": {
    name: "an answer that is not stored says that it is",
    file: "worker/flow/answering/pass-on.ts",
    from: "stored: false, collapsed: false, because",
    to: "stored: true, collapsed: false",
    reddens: "a body over the limit streams past and is not stored, with or without a length",
  },
  "collapsed-is-not-told": {
    name: "Cache-Status has no word for another's fetch",
    file: CACHE_STATUS,
    from: 'outcome.collapsed ? "; collapsed" : ""',
    to: '""',
    reddens: "who waited for another one's fetch is told so",
  },
  "expired-is-told-as-missing": {
    name: "a page that has gone stale is told as one that was never there",
    file: "worker/flow/miss.ts",
    from: 'xCache: isStale ? "EXPIRED" : "MISS"',
    to: 'xCache: "MISS"',
    reddens: "a response is fresh up to its last millisecond and not beyond",
  },
};
