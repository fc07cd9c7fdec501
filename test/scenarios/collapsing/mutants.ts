import type { Mutants } from "../../mutants/mutant.ts";

const CACHE_STATUS = "worker/rules/forwarding/cache-status.ts";
const FETCH_AND_STORE = "worker/flow/storing/fetch-and-store.ts";

/** Wrong rules of collapsed forwarding. */
export const mutants: Mutants = {
  "nobody-waits": {
    name: "every request that misses fetches for itself",
    file: "worker/flow/collapsing/collapsed-fetches.ts",
    from: "return this.#leaders.get(key);",
    to: "return undefined;",
    reddens: "collapsing/one-fetch-for-many",
  },
  "personal-fetch-is-shared": {
    name: "requests wait for the fetch of one with a session",
    file: "worker/flow/collapsing/collapsing-key.ts",
    from: 'identity === "anonymous" ? key',
    to: "true ? key",
    reddens: "collapsing/cookie-follows-anonymous",
  },
  "cookies-never-wait": {
    name: "a request with a cookie does not wait for an anonymous one",
    file: "worker/rules/identity/identity.ts",
    from: 'return ["anonymous", "cookies"];',
    to: 'return ["cookies"];',
    reddens: "collapsing/cookie-follows-anonymous",
  },
  "followers-wait-for-the-end": {
    name: "followers of an answer that cannot be shared wait for its end",
    file: FETCH_AND_STORE,
    from: "tellFollowers(outcomeOfNotStored(decision.because, response.status));",
    to: "",
    reddens: "collapsing/not-storable-frees-followers",
  },
  "failed-leader-is-silent": {
    name: "a leader whose body is cut off does not tell its followers",
    file: FETCH_AND_STORE,
    from: 'return tellFollowers(read.kind === "too-large"',
    to: `if (read.kind === "cut-off") return;
    return tellFollowers(read.kind === "too-large"`,
    reddens: "collapsing/leader-fails",
  },
  "large-body-is-waited-for": {
    name: "followers of a body that is too large to store wait for its end",
    file: "worker/flow/storing/fill.ts",
    from: "tell({ kind });",
    to: "",
    reddens: "collapsing/body-too-large",
  },
  "followers-have-no-patience-of-their-own": {
    name: "a follower waits as long as its leader takes",
    file: "worker/flow/collapsing/followers.ts",
    from: "within(ports.clock, site.limits.followTimeoutMs, leader.outcome, enough)",
    to: "leader.outcome",
    reddens: "collapsing/wait-is-limited",
  },
  "follower-is-a-little-late": {
    name: "a follower waits a millisecond longer than the site allows",
    file: "worker/flow/collapsing/followers.ts",
    from: "within(ports.clock, site.limits.followTimeoutMs",
    to: "within(ports.clock, site.limits.followTimeoutMs + 1",
    reddens: "collapsing/wait-is-limited",
  },
  "follower-is-a-little-early": {
    name: "a follower waits a millisecond less than the site allows",
    file: "worker/flow/collapsing/followers.ts",
    from: "within(ports.clock, site.limits.followTimeoutMs",
    to: "within(ports.clock, site.limits.followTimeoutMs - 1",
    reddens: "collapsing/wait-is-limited",
  },
  "endless-leader-is-waited-for-again": {
    name: "each follower waits anew for a leader that never ends",
    file: "worker/flow/collapsing/collapse.ts",
    from: `collapsed.abandon(leader);
      return collapse({ ...attempt, hasWaitedEnough: true });`,
    to: "return fetchAlone();",
    reddens: "collapsing/leader-never-ends",
  },
  "no-store-of-one-is-for-all": {
    name: "one visitor's no-store keeps other requests from sharing a fetch",
    file: "worker/flow/fetch-plan.ts",
    from: 'forbidsStoring ? "fetch-unstored" : "fetch"',
    to: '"fetch"',
    reddens: "collapsing/no-store-of-one-visitor",
  },
  "following-is-not-told": {
    name: "the answer to a follower does not say collapsed",
    file: "worker/flow/collapsing/followers.ts",
    from: "collapsed: true",
    to: "collapsed: false",
    reddens: "collapsing/follower-is-reported",
  },
  "collapsing-stops-for-ever": {
    name: "an answer for one visitor alone stops collapsing for ever",
    file: "worker/rules/key/expiring-keys.ts",
    from: "until !== undefined && now < until",
    to: "until !== undefined",
    reddens: "collapsing/answer-for-one-visitor",
  },
  "collapsed-is-not-told": {
    name: "Cache-Status does not say collapsed",
    file: CACHE_STATUS,
    from: 'outcome.collapsed ? "; collapsed" : ""',
    to: '""',
    reddens: "collapsing/follower-is-reported",
  },
};
