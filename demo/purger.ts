import * as z from "zod";

/** What saving needs from whoever can purge. The client that `createPurger()` of the SDK makes is one. */
export interface DemoPurger {
  purge(request: { tags?: string[]; urls?: string[]; reason?: string }): Promise<unknown>;
}

/** The parts of a receipt that the editor is told. A purger of another make may leave all of them out. */
const receiptSchema = z.object({
  seq: z.number().optional(),
  /** Makes sure that the editor's own browser is shown nothing older than this purge. */
  token: z
    .string()
    .regex(/^[\w.:~+/=-]+$/)
    .optional(),
  settlesInMs: z.number().nonnegative().optional(),
});

export type Receipt = z.infer<typeof receiptSchema>;

export function readReceipt(answer: unknown): Receipt {
  const receipt = receiptSchema.safeParse(answer);
  return receipt.success ? receipt.data : {};
}
