import { en } from "zod/locales";
import type * as z from "zod/mini";

/**
 * English for each thing that a check finds wrong and has no words of its own for: `schema.safeParse(value, IN_ENGLISH)`.
 * zod/mini has none. Set in zod for good, they would hold for all of the program that this is bundled into.
 */
export const IN_ENGLISH: { readonly error: z.core.$ZodErrorMap } = { error: en().localeError };
