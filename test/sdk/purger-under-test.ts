import { createHttpPurger } from "../../sdk/http-purger.ts";
import type { Purger, PurgerOptions } from "../../sdk/index.ts";
import type { Surroundings } from "../../sdk/surroundings.ts";
import { openUndici } from "../../sdk/transport-undici.ts";
import { createVirtualClock } from "./virtual-clock.ts";

export const TOKEN = "a-token-that-nobody-may-see";

/** A purger on virtual time whose pauses take none, whose ids count from `id-1`, and whose chance is always 0. */
export function purgerUnderTest(options: PurgerOptions, surroundings: Partial<Surroundings> = {}): Purger {
  let ids = 0;
  return createHttpPurger(
    { token: TOKEN, ...options },
    {
      clock: createVirtualClock({ skipsUpToMs: 9_999 }),
      random: () => 0,
      newId: () => `id-${++ids}`,
      environment: () => ({}),
      openTransport: openUndici,
      ...surroundings,
    },
  );
}
