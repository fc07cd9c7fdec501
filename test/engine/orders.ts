import { startMemoryEngine } from "./memory/memory-engine.ts";
import { play } from "./play.ts";
import type { Scenario } from "./scenario.ts";

/** The number of orders of events under which a scenario is played in memory with `--all`, and the seed of each. */
export const ORDERS = 20;
export const SEEDS: readonly number[] = Array.from({ length: ORDERS }, (_, index) => index + 1);

/**
 * If none of the first few orders chose between the work of two requests, the scenario has no simultaneous requests.
 */
const FIRST_FEW = 3;

/**
 * Plays a scenario in memory under one order of events after the other and returns their number.
 * Without `all`, it stops after the first few orders if none of them ever had the work of two requests ready at the same
 * time. Each request, with its background work, was then over before the next one came, so the order of events cannot
 * matter much.
 */
export async function playInOrders(
  scenario: Scenario,
  { all, seeds = SEEDS }: { readonly all: boolean; readonly seeds?: readonly number[] },
  start: typeof startMemoryEngine = startMemoryEngine,
): Promise<number> {
  let hasChosen = false;
  let played = 0;
  for (const seed of seeds.slice(0, scenario.orders ?? ORDERS)) {
    const engine = start(scenario.site ?? {}, seed);
    await play(scenario, engine);
    await engine.stop();
    hasChosen ||= engine.choicesBetweenRequests! > 0;
    if (++played === FIRST_FEW && !hasChosen && !all) break;
  }
  return played;
}
