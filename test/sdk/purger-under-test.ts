import { createHttpPurger, type Platform } from "../../sdk/http/http-purger.ts";
import { joinPurges } from "../../sdk/http/joined-purges.ts";
import { openUndici } from "../../sdk/http/transport-undici.ts";
import type { Purger, PurgerOptions } from "../../sdk/index.ts";
import { createVirtualClock } from "./virtual-clock.ts";

export const TOKEN = "a-token-that-nobody-may-see";

/** A purger on virtual time: its pauses pass at once, its ids count from `id-1`, and its random number is always 0. */
export function purgerUnderTest(options: PurgerOptions, platform: Partial<Platform> = {}): Purger {
  let ids = 0;
  return createHttpPurger(
    { token: TOKEN, ...options },
    {
      clock: createVirtualClock({ skipsUpToMs: 9_999 }),
      random: () => 0,
      newId: () => `id-${++ids}`,
      environment: () => ({}),
      later: () => {},
      warn: () => {},
      openTransport: openUndici,
      limited: joinPurges,
      ...platform,
    },
  );
}
