/** How the SDK checks its arguments: `schema.safeParse(value, WITH_VALUES)`. Messages are in English. */

import { IN_ENGLISH } from "../wire/text/english.ts";

/** For checks whose messages must not repeat a value, because it may be a token, or cannot be shown. */
export const WITHOUT_VALUES: typeof IN_ENGLISH = IN_ENGLISH;

/** For checks whose messages show the values. */
export const WITH_VALUES: typeof IN_ENGLISH & { readonly reportInput: true } = { ...IN_ENGLISH, reportInput: true };
