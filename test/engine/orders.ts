import { startMemoryEngine } from "./memory-engine.ts";
import { play } from "./play.ts";
import type { Scenario } from "./scenario.ts";

/** In memory a scenario is played under this many orders of events. */
export const ORDERS = 20;

/** If the first few orders never chose between the work of two requests, the scenario has none that run at once. */
const FIRST_FEW = 3;

/**
 * Plays a scenario in memory under one order of events after the other, at most `most`, and tells how many those were. Without `all`, it
 * is left at the first few orders where what happened shows that order cannot matter much: in none of them was the work of
 * two requests ready at the same time, so each request, with all that it left behind, was over before the next one came.
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
