/** The purge client on Node, over undici. */

import { createHttpPurger, platform } from "./http/http-purger.ts";
import { joinPurges } from "./http/joined-purges.ts";
import { openUndici } from "./http/transport-undici.ts";
import type { PurgerOptions } from "./options.ts";
import type { Purger } from "./purger.ts";

/**
 * Creates a client of the edge in front of a site. It reads its settings and opens its connections when it is first
 * used: without an endpoint and a token, in the options or the environment, that first call rejects with a `PurgeError`
 * of the code `not-configured`. Throws a `TypeError` at once for an unknown option, or one of the wrong type.
 */
export function createPurger(options: PurgerOptions = {}): Purger {
  return createHttpPurger(options, { ...platform, openTransport: openUndici, limited: joinPurges });
}

export * from "./exports.ts";
