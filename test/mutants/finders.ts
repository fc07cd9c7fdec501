import { checkFinders } from "../cli/setup/finders.ts";
import { doorFinders } from "../control/vendor-apis/finders.ts";
import { heldIn } from "../engine/held-in.ts";
import { purgeFinders } from "../purges/finders.ts";
import { scenarios } from "../scenarios/index.ts";
import { outboxFinders } from "../sdk/outbox/finders.ts";
import { keeperFinders, renewalFinders } from "../server/acme/finders.ts";
import { lastStreamFinders } from "../server/http2/finders.ts";
import { isolationFinders } from "../server/sites/finders.ts";
import { tierFinders } from "../server/tiers/finders.ts";
import { auditFinders } from "../tools/audit/finders.ts";
import { budgetFinders } from "../tools/budget/finders.ts";
import { importFinders } from "../tools/import/finders.ts";
import { orderFinders } from "../tools/order/finders.ts";
import { scenarioFinder, worldFinder } from "./engine-finders.ts";
import type { Finder } from "./finder.ts";

/** The suites, by the word that stands before the names of their cases. */
const SUITES: Readonly<Record<string, ReadonlyMap<string, Finder>>> = {
  audit: auditFinders,
  budget: budgetFinders,
  check: checkFinders,
  doors: doorFinders,
  import: importFinders,
  isolation: isolationFinders,
  keeper: keeperFinders,
  order: orderFinders,
  lastStream: lastStreamFinders,
  outbox: outboxFinders,
  purges: purgeFinders,
  renewal: renewalFinders,
  tier: tierFinders,
};

const known = new Map<string, Finder>([["simulation", worldFinder()]]);

/** The test that a mutant names. Throws if there is none. */
export function finderNamed(name: string): Finder {
  const [, suite, ofSuite] = /^(\w+): (.*)$/s.exec(name) ?? [];
  const found = suite === undefined ? undefined : SUITES[suite]?.get(ofSuite!);
  if (found) return found;
  return heldIn(known, name, () => {
    const scenario = scenarios.find(({ id }) => id === name);
    if (!scenario) throw new Error(`no scenario and no case of a suite has this name: ${name}`);
    return scenarioFinder(scenario);
  });
}
