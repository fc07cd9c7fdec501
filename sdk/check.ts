/** How the SDK checks what it is given: `schema.safeParse(value, WITH_VALUES)`. Messages are in English. */

import { IN_ENGLISH } from "../wire/text/english.ts";

/** For checks whose messages must repeat no value, because it may be a token, or could not be shown. */
export const WITHOUT_VALUES: typeof IN_ENGLISH = IN_ENGLISH;

/** For checks whose messages show the values that were found. */
export const WITH_VALUES: typeof IN_ENGLISH & { readonly reportInput: true } = { ...IN_ENGLISH, reportInput: true };
