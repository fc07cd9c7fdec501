import * as z from "zod";

/** The client with which saving purges, such as the SDK's `createPurger()` makes. */
export interface DemoPurger {
  purge(request: { tags?: string[]; urls?: string[]; reason?: string }): Promise<unknown>;
}

/** The parts of a receipt that the editor is told about. A purger of another kind may leave out all of them. */
const receiptSchema = z.object({
  seq: z.number().optional(),
  /**
   * Guarantees that the editor's own browser is shown nothing older than this purge. It becomes a cookie, so it may
   * hold only characters that need no encoding there.
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
