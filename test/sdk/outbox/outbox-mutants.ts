import type { Mutation } from "../../mutants/mutant.ts";

/** A wrong rule of the outbox. */
export interface OutboxMutant extends Mutation {
  /** A sentence that describes the wrong rule. */
  readonly name: string;
  /** The title of the test in `outbox-contract.ts` that must fail under it. */
  readonly reddens: string;
}

const CLAIMS = "sdk/outbox/claims.ts";
const DRAIN = "sdk/outbox/drain.ts";
const FAILURE = "sdk/outbox/after-failure.ts";
const SQLITE = "sdk/outbox/sqlite.ts";
const STORE = "sdk/outbox/sqlite-store.ts";

const SEND = "receipt = await purger.purge(request, { deadlineMs });";

export const outboxMutants: readonly OutboxMutant[] = [
  // A rolled-back transaction purges nothing.
  {
    name: "a purge is sent before its transaction is committed",
    file: SQLITE,
    from: "      return purge.id;\n",
    to: "      void settings.purger.purge(purge, { deadlineMs: 1 });\n      return purge.id;\n",
    reddens: "a transaction that is rolled back purges nothing",
  },

  // At least once, with the same id.
  {
    name: "a row is deleted before its purge is sent, so that a failure loses it",
    file: DRAIN,
    from: SEND,
    to: `await store.remove(row.seq);\n      ${SEND}`,
    reddens: "is tried again with the same id when its pause is over, and not before",
  },
  {
    name: "each attempt has an id of its own",
    file: DRAIN,
    from: SEND,
    to: "receipt = await purger.purge({ ...request, id: newId() }, { deadlineMs });",
    reddens: "is tried again with the same id when its pause is over, and not before",
  },
  {
    name: "a row stays after its purge",
    file: DRAIN,
    from: "await store.remove(row.seq);",
    to: "await store.release([row.seq], lease.id); outcomes.sent.length += MAX_ROWS;",
    reddens: "a purge is sent once, with the id that enqueue gave",
  },
  {
    name: "the purges of a killed process are left to it",
    file: CLAIMS,
    from: "Math.max(row.dueAt, row.leaseUntil)",
    to: "(row.leaseUntil > 0 ? Number.POSITIVE_INFINITY : row.dueAt)",
    reddens: "take over the purges of one that was killed when its lease is over, with the same id",
  },
  {
    name: "a process that was stopped for longer than its lease records its failure over the other's",
    file: STORE,
    from: "WHERE seq = ? AND lease_id = ?`,\n        )\n        .run(failures, error, dueAt, deadAt, seq, leaseId),",
    to: "WHERE seq = ? AND ? IS NOT NULL`,\n        )\n        .run(failures, error, dueAt, deadAt, seq, leaseId),",
    reddens: "are not disturbed by the late failure of one that was stopped for longer than its lease",
  },
  {
    name: "what two processes claim is sent by both",
    file: CLAIMS,
    from: "Math.max(row.dueAt, row.leaseUntil)",
    to: "row.dueAt",
    reddens: "share the work: no purge is sent twice",
  },
  {
    name: "an id may stand in the table twice",
    file: STORE,
    from: "id TEXT NOT NULL UNIQUE",
    to: "id TEXT NOT NULL",
    reddens: "the id may be the backend's own, and stands in the table once",
  },

  // The order of a tag.
  {
    name: "purges of one tag are sent side by side",
    file: CLAIMS,
    from: "if (!items.some((item) => taken.has(item))) wave.push(row);",
    to: "wave.push(row);",
    reddens: "purges with a tag in common are sent in their order, one after another",
  },
  {
    name: "a purge overtakes an earlier one of its tag that waits",
    file: CLAIMS,
    from: "const isHeld = items.some((item) => held.has(item));",
    to: "const isHeld = false;",
    reddens: "a purge is not overtaken by a later one of its tag while it waits for its next attempt, but by others",
  },
  {
    name: "within one call, a purge overtakes an earlier one of its tag that has just failed",
    file: DRAIN,
    from: "for (const item of orderedItems(row.request)) held.add(item);",
    to: "",
    reddens: "a purge is not overtaken by a later one of its tag while it waits for its next attempt, but by others",
  },
  {
    name: "a purge that waits holds back all later ones",
    file: CLAIMS,
    from: "for (const item of items) held.add(item);\n    // A row",
    to: "for (const item of items) held.add(item);\n    break;\n    // A row",
    reddens: "a purge is not overtaken while another process sends it",
  },
  {
    name: "a purge overtakes an earlier one of its tag that another process sends",
    file: CLAIMS,
    from: "for (const item of items) held.add(item);\n    // A row",
    to: "if (row.leaseUntil <= now) for (const item of items) held.add(item);\n    // A row",
    reddens: "a purge is not overtaken while another process sends it",
  },
  {
    name: "only tags keep purges in order, and only the first one of each",
    file: "sdk/outbox/queued-purge.ts",
    from: "list.map((item) =>",
    to: "list.slice(0, 1).map((item) =>",
    reddens: "purges with a tag in common are sent in their order, one after another",
  },

  // Failures, pauses and the dead letter.
  {
    name: "a purge that failed is sent again at once",
    file: FAILURE,
    from: "dueAt: now + Math.max(",
    to: "dueAt: now + 0 * Math.max(",
    reddens: "is tried again with the same id when its pause is over, and not before",
  },
  {
    name: "a purge is never given up",
    file: FAILURE,
    from: "if (failures >= maxAttempts)",
    to: "if (failures > maxAttempts)",
    reddens: "is given up after the last attempt, told, listed, and sent again once it is requeued",
  },
  {
    name: "nobody is told of a purge that is given up",
    file: DRAIN,
    from: "      onDead(purge);\n",
    to: "",
    reddens: "is given up after the last attempt, told, listed, and sent again once it is requeued",
  },
  {
    name: "a purge that is given up is deleted",
    file: DRAIN,
    from: "      onDead(purge);\n",
    to: "      onDead(purge);\n      await store.remove(row.seq);\n",
    reddens: "is given up after the last attempt, told, listed, and sent again once it is requeued",
  },
  {
    name: "a request that the edge refuses is sent again",
    file: FAILURE,
    from: 'if (isRefused(error)) return { kind: "dead", because: "refused" };',
    to: "",
    reddens: "is given up at once if the edge refuses the request, and holds back no other",
  },
  {
    name: "a purge that was given up is sent again",
    file: STORE,
    from: "FROM tidemark_outbox WHERE dead_at IS NULL AND seq",
    to: "FROM tidemark_outbox WHERE seq",
    reddens: "is given up at once if the edge refuses the request, and holds back no other",
  },
  {
    name: "an edge that cannot be reached costs every purge an attempt",
    file: FAILURE,
    from: 'return typeof codeOf(error) === "string" && !isRefused(error);',
    to: "return false;",
    reddens: "ends the call if the edge cannot be reached: the others keep their attempts, and are due at once",
  },
  {
    name: "what was leased and not sent waits for the end of the lease",
    file: DRAIN,
    from: "if (left.length > 0) {",
    to: "if (left.length > 1_000) {",
    reddens: "ends the call if the edge cannot be reached: the others keep their attempts, and are due at once",
  },
  {
    name: "a purge that waits can be discarded",
    file: SQLITE,
    from: "WHERE dead_at IS NOT NULL AND id = ?",
    to: "WHERE id = ?",
    reddens: "is due at once after requeue with its id; a purge that waits cannot be discarded",
  },

  // Bounds.
  {
    name: "any number of purges is under way at once",
    file: DRAIN,
    from: "const SENT_AT_ONCE = 8;",
    to: "const SENT_AT_ONCE = 80;",
    reddens: "a thousand purges are sent by one call, at most eight at once, and the rest by the next",
  },
  {
    name: "one call sends all that is there",
    file: DRAIN,
    from: "const MAX_ROWS = 1_000;",
    to: "const MAX_ROWS = 2_000;",
    reddens: "a thousand purges are sent by one call, at most eight at once, and the rest by the next",
  },
  {
    name: "a closed outbox sends",
    file: DRAIN,
    from: 'if (closing.signal.aborted) return Promise.reject(new Error("This outbox was closed."));',
    to: "",
    reddens: "A closed outbox finishes what is under way, and sends nothing more",
  },
];
