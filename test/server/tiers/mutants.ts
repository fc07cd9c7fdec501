import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of docs/protocol.md between a child and its parent. */
export const mutants: Mutants = {
  R1: {
    "the token of another log says how far a parent must have read its own": {
      in: "neededPosition",
      replace: "if (token.logId !== stamp.logId) return null;",
      by: "if (token.logId !== stamp.logId) return token;",
      foundBy:
        "tier: a purge in a log that the parent does not read is honoured for the bearer of a token of the parent's log",
    },
  },
  R5: {
    "a follower takes an answer that its parent had fetched before the follower came": {
      in: "mayFollow",
      replace: "&& !isOfEarlierFetch",
      by: "",
      foundBy:
        "tier: a purge is honoured for a bearer who waits for another's fetch, which the parent answers by an earlier one",
    },
    "a parent's answer from its store counts as fetched for the child": {
      in: "tellOf",
      replace: "isOfEarlierFetch: isOfEarlierFetch(response)",
      by: "isOfEarlierFetch: false",
      foundBy:
        "tier: a purge is honoured for a bearer who waits for another's fetch, which the parent answers by an earlier one",
    },
    "a parent does not tell that it has fetched an answer for somebody else, within the same millisecond": {
      in: "answerForChild",
      replace: "isOfEarlierFetch ? 1 : 0",
      by: "0",
      foundBy:
        "tier: a purge is honoured for a bearer who waits for another's fetch, which the parent answers by an earlier one",
    },
  },
  R8: {
    "while the log is silent, a child serves what its parent had stored for a lease after its own fetch": {
      in: "decideStorage",
      replace: "fetchedAt: fetchedAt - (parentAge?.fetchedBeforeMs ?? 0),",
      by: "fetchedAt,",
      foundBy:
        "tier: a purge leaves nothing behind in a child that cannot reach the log, which got its page from a view without it",
    },
  },
  R15: {
    "a child tells its parent nothing of a page whose invalidation the log lacks": {
      in: "neededPosition",
      replace: "ports.origin.isCache &&",
      by: "false &&",
      foundBy:
        "tier: what a visitor changes while the parent fails is not undone by it afterwards, although the log cannot be told",
    },
  },
  R17: {
    "a parent's answer to a HEAD freshens a child's page, which may have other tags": {
      in: "forwardHead",
      replace: "!ports.origin.isCache &&",
      by: "",
      foundBy: "tier: a HEAD that the parent answers does not make a child's stale page fresh",
    },
  },
};
