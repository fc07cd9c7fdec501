import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import type { PurgeRequest } from "../../sdk/index.ts";
import { createOutbox, type SqliteOutbox } from "../../sdk/outbox/sqlite.ts";
import type { DemoEvent } from "./context.ts";

/** The client that saving uses to purge, like the one from the SDK's `createPurger()`. */
export interface DemoPurger {
  /** The `id` makes the purge happen once, however often it is sent. */
  purge(request: PurgeRequest): Promise<unknown>;
}

/** An outbox that reports the outcome of each purge. */
export function openOutbox(
  database: DatabaseSync,
  purger: DemoPurger,
  now: () => number,
  report: (event: DemoEvent) => void,
): SqliteOutbox<unknown> {
  const outbox = createOutbox({
    database,
    now,
    purger: {
      async purge({ tags = [], reason = "", ...request }) {
        try {
          const answer = await purger.purge({ tags, reason, ...request });
          report({ kind: "purged", tags, reason, seq: readReceipt(answer).seq });
          return answer;
        } catch (error) {
          report({ kind: "purge-failed", tags, reason, error });
          throw error;
        }
      },
    },
  });
  outbox.createTable();
  return outbox;
}

/** The parts of a receipt that the editor sees. Another kind of purger may leave out all of them. */
const receiptSchema = z.object({
  seq: z.number().optional(),
  /**
   * Guarantees that the editor's browser gets nothing older than this purge. It becomes a cookie, so it may hold only
   * characters that need no encoding there.
   */
  token: z
    .string()
    .regex(/^[\w.~-]+$/)
    .optional(),
  settlesInMs: z.number().nonnegative().optional(),
});

export type Receipt = z.infer<typeof receiptSchema>;

export function readReceipt(answer: unknown): Receipt {
  const receipt = receiptSchema.safeParse(answer);
  return receipt.success ? receipt.data : {};
}
