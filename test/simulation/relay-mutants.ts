import type { Mutants } from "../mutants/mutant.ts";

const RELAY = "worker/purges/relay/relay.ts";
const FOLLOWED_LOG = "worker/purges/relay/followed-log.ts";

/** Mutants of R27 of docs/protocol.md, for the worlds with relays to find. */
export const relayMutants: Mutants = {
  "r27-taken-in-counts-as-confirmed": {
    name: "a relay confirms what it has taken in, whether or not its readers have",
    file: FOLLOWED_LOG,
    from: "if (at > this.#now()) break;",
    to: "",
    foundBy: "simulation",
  },
  "r27-silent-reader-counts-as-confirmed": {
    name: "a relay's answer to a push confirms it, however its readers have answered",
    file: RELAY,
    from: "return this.#isConfirmed(delta.to);",
    to: "return true;",
    foundBy: "simulation",
  },
  "r27-names-what-it-has": {
    name: "a relay that reads the log names what it has, not what its readers have confirmed",
    file: RELAY,
    from: "const since = this.#followed.confirmed;",
    to: "const since = this.#followed.head;",
    foundBy: "simulation",
  },
  "r27-answers-while-cut-off": {
    name: "a relay answers by what it knows, however long ago it has read the log",
    file: RELAY,
    from: "ageMs <= RELAY_AGE_MS && ",
    to: "ageMs < Number.POSITIVE_INFINITY && ",
    foundBy: "simulation",
  },
  "r27-longer-lease-is-not-told": {
    name: "a relay grants longer leases than it has told the log of",
    file: RELAY,
    from: "return isYoung && leaseMs <= this.#named.leaseMs && longestViewAgeMs <= this.#named.longestViewAgeMs;",
    to: "return isYoung && leaseMs + longestViewAgeMs > 0;",
    foundBy: "simulation",
  },
  "r27-grants-after-its-release": {
    name: "a relay that has given up its lease grants leases by what it has read before",
    file: RELAY,
    from: "    this.#readAt = NEVER;\n",
    to: "",
    foundBy: "simulation",
  },
  "r27-newest-pass-for-all": {
    name: "a relay takes the newest purges, for which a reply had room, for all",
    file: RELAY,
    from: "unread !== null; )",
    to: "unread?.to === 0; )",
    foundBy: "simulation",
  },
  "r27-late-push-lowers-a-number": {
    name: "a late message lowers the number of a key in a relay's copy",
    file: "worker/purges/log/purged-keys.ts",
    from: "excluded.seq WHERE excluded.seq > seq`",
    to: "excluded.seq`",
    foundBy: "simulation",
  },
  "r27-late-push-brings-a-log-back": {
    name: "a late push of a log that was replaced brings it back at a relay",
    file: RELAY,
    from: "if (delta.logId !== logId || Math.max(",
    to: "if (Math.max(",
    foundBy: "simulation",
  },
  "r27-answers-for-an-unread-range": {
    name: "a relay answers for the unread range of a reader that is ahead of it",
    file: FOLLOWED_LOG,
    from: "{ ...position, seq, unread: null }",
    to: "{ ...position, seq }",
    foundBy: "simulation",
  },
  "r27-reader-outlives-its-relay": {
    name: "a reader of a relay counts as remembered for as long as one of the log",
    file: "worker/purges/lease/lease-timing.ts",
    from: "REMEMBERED_BY_NAME_MS) - earlierMs",
    to: "REMEMBERED_BY_NAME_MS)",
    foundBy: "simulation",
  },
  "r27-restarted-relay-goes-on": {
    name: "a relay that has restarted confirms under the name of the one before",
    file: RELAY,
    from: "this.#name = `relay ${random()}`;",
    to: "this.#name = `relay ${random() * 0}`;",
    foundBy: "simulation",
  },
  "r27-age-does-not-count": {
    name: "the log does not count with the age of what a relay knows",
    file: "worker/purges/log/log-contract.ts",
    from: "return RELAY_AGE_MS + skewMs;",
    to: "return 0;",
    foundBy: "simulation",
  },
  "r27-reader-of-a-newer-log-goes-back": {
    name: "a relay answers a reader of another log by what it has read before",
    file: RELAY,
    from: "isOfAnotherLog ? this.#readsBegun + 1 : 1",
    to: "1",
    foundBy: "simulation",
  },
};
