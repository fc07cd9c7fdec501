import { startMemoryEngine } from "./memory-engine.ts";
import { play } from "./play.ts";
import type { Scenario } from "./scenario.ts";

/** The number of orders of events under which a scenario is played in memory. */
export const ORDERS = 20;

/**
 * If none of the first few orders chose between the work of two requests, the scenario has no simultaneous requests.
 */
const FIRST_FEW = 3;

/**
 * Plays a scenario in memory under one order of events after the other, at most `most`, and returns their number.
 * Without `all`, it stops after the first few orders if none of them ever had the work of two requests ready at the same
 * time. Each request, with its background work, was then over before the next one came, so the order of events cannot
 * matter much.
 */
export async function playInOrders(
  scenario: Scenario,
  { all, most = ORDERS }: { readonly all: boolean; readonly most?: number },
  start: typeof startMemoryEngine = startMemoryEngine,
): Promise<number> {
  const orders = Math.min(scenario.orders ?? ORDERS, most);
  let hasChosen = false;
  for (let seed = 1; seed <= orders; seed++) {
    const engine = start(scenario.site ?? {}, seed);
    await play(scenario, engine);
    await engine.stop();
    hasChosen ||= engine.choicesBetweenRequests! > 0;
    if (seed === FIRST_FEW && !hasChosen && !all) return seed;
  }
  return orders;
}
