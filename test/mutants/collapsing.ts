import type { Mutants } from "./mutant.ts";

const FLOW = "worker/flow/corridor.ts";
const FETCH_AND_STORE = "worker/flow/storing/fetch-and-store.ts";

/** Wrong rules of who waits for another's fetch. */
export const collapsing: Mutants = {
  "nobody-waits": {
    name: "every request that misses is a fetch of its own",
    file: "worker/flow/collapsing/collapsed-fetches.ts",
    from: "return this.#leaders.get(key);",
    to: "return undefined;",
    reddens: "200 requests at once for one page are one request to the origin",
  },
  "personal-fetch-is-shared": {
    name: "visitors wait for the fetch of one with a session",
    file: "worker/flow/collapsing/collapsing-key.ts",
    from: 'identity === "anonymous" ? key',
    to: "true ? key",
    reddens: "a visitor with a cookie may take an anonymous visitor's fetch, but not the other way round",
  },
  "cookies-never-wait": {
    name: "a visitor with a cookie does not wait for an anonymous one",
    file: "worker/rules/identity/identity.ts",
    from: 'return ["anonymous", "cookies"];',
    to: 'return ["cookies"];',
    reddens: "a visitor with a cookie may take an anonymous visitor's fetch, but not the other way round",
  },
  "followers-wait-for-the-end": {
    name: "who waits for an answer that cannot be shared waits for its end",
    file: FETCH_AND_STORE,
    from: "tellFollowers(outcomeOfPass(decision.because, response.status));",
    to: "",
    reddens: "followers of a page that turns out not storable do not wait for its body",
  },
  "failed-leader-is-silent": {
    name: "a leader whose body is cut off does not tell",
    file: FETCH_AND_STORE,
    from: 'return tellFollowers(read.kind === "too-large"',
    to: `if (read.kind === "cut-off") return;
    return tellFollowers(read.kind === "too-large"`,
    reddens: "a leader that fails sets its followers free",
  },
  "large-body-is-waited-for": {
    name: "who waits for a body that is too large to keep waits for its end",
    file: "worker/flow/storing/fill.ts",
    from: "tell({ kind });",
    to: "",
    reddens: "nobody waits for a body that has turned out too large to keep",
  },
  "followers-have-no-patience-of-their-own": {
    name: "a follower waits as long as its leader takes",
    file: "worker/flow/collapsing/followers.ts",
    from: "Promise.race([leader.outcome, patience])",
    to: "leader.outcome",
    reddens: "a follower does not wait for a leader longer than the site allows",
  },
  "follower-is-a-little-late": {
    name: "a follower waits a millisecond longer than the site allows",
    file: "worker/flow/collapsing/followers.ts",
    from: "clock.wait(site.limits.followMs)",
    to: "clock.wait(site.limits.followMs + 1)",
    reddens: "a follower does not wait for a leader longer than the site allows",
  },
  "follower-is-a-little-early": {
    name: "a follower waits a millisecond less than the site allows",
    file: "worker/flow/collapsing/followers.ts",
    from: "clock.wait(site.limits.followMs)",
    to: "clock.wait(site.limits.followMs - 1)",
    reddens: "a follower does not wait for a leader longer than the site allows",
  },
  "dead-leader-is-waited-for-again": {
    name: "each visitor waits anew for a leader that never ends",
    file: "worker/flow/collapsing/collapse.ts",
    from: `collapsed.abandon(leader);
        break;`,
    to: "return fetchAlone();",
    reddens: "a leader that never ends is waited for once, and not again by the next visitor",
  },
  "no-store-of-one-is-for-all": {
    name: "one visitor's no-store keeps the others from sharing a fetch",
    file: FLOW,
    from: "if (facts.directives.forbidsStoring) return fetchAndStore(context, miss, null);",
    to: "",
    reddens: "one visitor's Cache-Control: no-store makes nobody else wait less or fetch more",
  },
  "following-is-not-told": {
    name: "who took another's fetch is not told so",
    file: "worker/flow/collapsing/followers.ts",
    from: "collapsed: true",
    to: "collapsed: false",
    reddens: "who waited for another one's fetch is told so",
  },
};
