import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of the outbox. */
export const mutants: Mutants = {
  "outbox: a rolled-back transaction purges nothing": {
    "a purge is sent before its transaction is committed": {
      in: "createOutbox",
      replace: "return purge.id;",
      by: "void settings.purger.purge(purge, { deadlineMs: 1 }); return purge.id;",
      foundBy: "outbox: a transaction that is rolled back purges nothing",
    },
  },
  "outbox: at least once, with the same id": {
    "a row is deleted before its purge is sent, so that a failure loses it": {
      in: "Drain.#send",
      replace: "receipt = await purger.purge(sent, { deadlineMs });",
      by: "await this.#store.remove(row.seq); receipt = await purger.purge(sent, { deadlineMs });",
      foundBy: "outbox: is tried again with the same id when its pause is over, and not before",
    },
    "each attempt has an id of its own": {
      in: "Drain.#send",
      replace: "receipt = await purger.purge(sent, { deadlineMs });",
      by: "receipt = await purger.purge({ ...sent, id: this.#platform.newId() }, { deadlineMs });",
      foundBy: "outbox: is tried again with the same id when its pause is over, and not before",
    },
    "a row stays after its purge": {
      in: "Drain.#send",
      replace: "await this.#store.remove(row.seq);",
      by: "await this.#store.release([row.seq], leaseId); outcomes.sent.length += 1_000;",
      foundBy: "outbox: a purge is sent once, with the id that enqueue gave",
    },
    "the purges of a killed process are left to it": {
      in: "chooseClaims",
      replace: "[row.dueAt, row.leaseUntil]",
      by: "[row.leaseUntil > 0 ? latestAt : row.dueAt]",
      foundBy: "outbox: take over the purges of one that was killed when its lease is over, with the same id",
    },
    "a process that was stopped for longer than its lease records its failure over the other's": {
      in: "sqliteStore",
      replace: "WHERE seq = ? AND lease_id = ?`, ) .run(failures, scope, error, dueAt, deadAt, seq, leaseId),",
      by: `WHERE seq = ? AND ? IS NOT NULL\`,
)
.run(failures, scope, error, dueAt, deadAt, seq, leaseId),`,
      foundBy: "outbox: are not disturbed by the late failure of one that was stopped for longer than its lease",
    },
    "what two processes claim is sent by both": {
      in: "chooseClaims",
      replace: "[row.dueAt, row.leaseUntil]",
      by: "[row.dueAt]",
      foundBy: "outbox: share the work: no purge is sent twice",
    },
    "an id may stand in the table twice": {
      in: "TABLE_SQL",
      replace: "id TEXT NOT NULL UNIQUE",
      by: "id TEXT NOT NULL",
      foundBy: "outbox: the id may be the backend's own, and stands in the table once",
    },
  },
  "outbox: the order of a tag": {
    "purges of one tag are sent side by side": {
      in: "nextToSend",
      replace: "if (!items.some((item) => all.has(item))) chosen.push(row);",
      by: "chosen.push(row);",
      foundBy: "outbox: purges with a tag in common are sent in their order, one after another",
    },
    "a purge overtakes an earlier one of its tag that waits": {
      in: "chooseClaims",
      replace: "const isHeld = items.some((item) => held.has(item));",
      by: "const isHeld = false;",
      foundBy:
        "outbox: a purge is not overtaken by a later one of its tag while it waits for its next attempt, but by others",
    },
    "within one call, a purge overtakes an earlier one of its tag that has just failed": {
      in: "afterSending",
      drop: 'if (result.kind !== "happened") for (const item of orderedItems(row)) held.add(item);',
      foundBy:
        "outbox: a purge is not overtaken by a later one of its tag while it waits for its next attempt, but by others",
    },
    "a purge that waits holds back all later ones": {
      in: "chooseClaims",
      replace: "held.add(item);",
      by: "held.add(item); break; // A row",
      foundBy: "outbox: a purge is not overtaken while another process sends it",
    },
    "a purge overtakes an earlier one of its tag that another process sends": {
      in: "chooseClaims",
      replace: "for (const item of items) held.add(item);",
      by: "if (row.leaseUntil <= now) for (const item of items) held.add(item); // A row",
      foundBy: "outbox: a purge is not overtaken while another process sends it",
    },
    "only tags keep purges in order, and only the first one of each": {
      in: "itemsWithKinds",
      replace: "list.map((item) =>",
      by: "list.slice(0, 1).map((item) =>",
      foundBy: "outbox: purges with a tag in common are sent in their order, one after another",
    },
  },
  "outbox: failures, pauses and the dead letter": {
    "a purge that failed is sent again at once": {
      in: "afterFailure",
      replace: "dueAt: now + Math.max(",
      by: "dueAt: now + 0 * Math.max(",
      foundBy: "outbox: is tried again with the same id when its pause is over, and not before",
    },
    "a purge is never given up": {
      in: "afterFailure",
      replace: "if (failures >= maxAttempts)",
      by: "if (failures > maxAttempts)",
      foundBy: "outbox: is given up after the last attempt, reported, listed, and sent again once it is requeued",
    },
    "nobody is told of a purge that is given up": {
      in: "Drain.#recordFailure",
      replace: "Promise.resolve(onDead(purge))",
      by: "Promise.resolve()",
      foundBy: "outbox: is given up after the last attempt, reported, listed, and sent again once it is requeued",
    },
    "a purge that is given up is deleted": {
      in: "Drain.#recordFailure",
      replace: "Promise.resolve(onDead(purge))",
      by: "await this.#store.remove(row.seq); Promise.resolve(onDead(purge))",
      foundBy: "outbox: is given up after the last attempt, reported, listed, and sent again once it is requeued",
    },
    "a request that the edge refuses is sent again": {
      in: "afterFailure",
      drop: 'if (isRefused(error)) return { kind: "dead", because: "refused" };',
      foundBy: "outbox: is given up at once if the edge refuses the request, and holds back no other",
    },
    "a purge that was given up is sent again": {
      in: "IS_ORDERED",
      replace: "dead_at IS NULL AND failure_scope",
      by: "failure_scope",
      foundBy: "outbox: is given up at once if the edge refuses the request, and holds back no other",
    },
    "an edge that cannot be reached costs every purge an attempt": {
      in: "failureScope",
      wrap: '() => "purge"',
      foundBy:
        "outbox: ends the call if the edge cannot be reached: the others keep their attempts, and are due at once",
    },
    "what one edge of several has accepted makes it fetch the pages again": {
      in: "Drain.#send",
      replace: "isHalfAccepted(row) ||",
      by: "",
      foundBy: "outbox: at one edge of several is sent again without refresh: the other has fetched its pages again",
    },
    "what was leased and not sent waits for the end of the lease": {
      in: "nextStep",
      replace: "if (left.length > 0) return",
      by: "if (left.length > 1_000) return",
      foundBy:
        "outbox: ends the call if the edge cannot be reached: the others keep their attempts, and are due at once",
    },
    "a purge that waits can be discarded": {
      in: "createOutbox",
      replace: "WHERE dead_at IS NOT NULL AND id = ?",
      by: "WHERE id = ?",
      foundBy: "outbox: is due at once after requeue with its id; a purge that waits cannot be discarded",
    },
  },
  "outbox: bounds": {
    "any number of purges is under way at once": {
      in: "SENT_AT_ONCE",
      replace: "const SENT_AT_ONCE = 8;",
      by: "const SENT_AT_ONCE = 80;",
      foundBy: "outbox: a thousand purges are sent by one call, at most eight at once, and the rest by the next",
    },
    "one call sends all that is there": {
      in: "MAX_ROWS",
      replace: "const MAX_ROWS = 1_000;",
      by: "const MAX_ROWS = 2_000;",
      foundBy: "outbox: a thousand purges are sent by one call, at most eight at once, and the rest by the next",
    },
    "a closed outbox sends": {
      in: "Drain.#pass",
      replace: "const isClosing = this.#closing.signal.aborted;",
      by: "const isClosing = false;",
      foundBy: "outbox: A closed outbox finishes running sends, and starts no more",
    },
  },
};
