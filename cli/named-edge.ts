import { createHttpPurger, platform } from "../sdk/http/http-purger.ts";
import { openUndici } from "../sdk/http/transport-undici.ts";
import type { Purger, PurgerOptions } from "../sdk/index.ts";
import { findSettings, type Settings } from "../sdk/options.ts";

/** Advice for a person about a missing setting. */
const HOW_TO_CONFIGURE =
  "Set TIDEMARK_ENDPOINT or --endpoint to the site's origin, like https://www.example.com, and TIDEMARK_TOKEN to a " +
  "token of its edge.";

/** A client of the edge that a command names. Its first call rejects if a setting is missing. */
export function openPurger(options: PurgerOptions): Purger {
  return createHttpPurger(options, { ...platform, openTransport: openUndici, howToConfigure: HOW_TO_CONFIGURE });
}

/** The edge that a command names. Throws a `PurgeError` if a setting is missing. */
export function namedEdge(endpoint: string | undefined): Settings {
  return findSettings({ endpoint }, process.env, HOW_TO_CONFIGURE);
}
