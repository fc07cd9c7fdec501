import type { Engine } from "../engine/engine.ts";
import { heldIn } from "../engine/held-in.ts";
import { play } from "../engine/play.ts";
import { runsOn, type Scenario, TOKEN } from "../engine/scenario.ts";
import { scenarios } from "../scenarios/index.ts";
import type { Mutant } from "./mutant.ts";
import { type MutatedEngine, mutatedEngine } from "./mutated-engine.ts";

/** The number of orders of events to try. */
export interface Seeds {
  readonly scenario: number;
  readonly simulation: number;
  /** The seed that found the mutant last time, which is tried first, also if a longer search found it. Default: none. */
  readonly likely?: number | undefined;
}

/** The isolates that scenarios can name. The first is that of requests without a name. */
const ISOLATES = ["a", "b", "c"] as const;

let sound: Promise<MutatedEngine> | undefined;

/** The failures of the correct code by seed, for controls: they are the same for all mutants. */
const soundScenarios = new WeakMap<Scenario, Map<number, Promise<unknown>>>();
const soundWorlds = new Map<number, Promise<readonly unknown[]>>();

/**
 * The first of the tried seeds under which the expected test finds the mutant; `"survived"` if none does. Throws if the
 * result would prove nothing: the mutation cannot be made, the mutated code crashes, or the test also fails on the
 * correct code.
 */
export async function hunt(
  mutant: Mutant,
  seeds: Seeds,
  among: readonly Scenario[] = scenarios,
): Promise<number | "survived"> {
  const mutated = await mutatedEngine(mutant);
  sound ??= mutatedEngine(null);
  return "reddens" in mutant
    ? huntByScenario(
        scenarioWithId(mutant.reddens, among),
        mutated,
        await sound,
        seedsUpTo(seeds.scenario, seeds.likely),
      )
    : huntBySimulation(mutated, await sound, seedsUpTo(seeds.simulation, seeds.likely));
}

function seedsUpTo(count: number, likely?: number): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  return likely === undefined ? all : [likely, ...all.filter((seed) => seed !== likely)];
}

function scenarioWithId(id: string, among: readonly Scenario[]): Scenario {
  const scenario = among.find((each) => each.id === id);
  if (!scenario) throw new Error(`no scenario has this id: ${id}`);
  if (!runsOn(scenario, "memory")) throw new Error(`this scenario does not run in memory: ${id}`);
  return scenario;
}

async function huntByScenario(
  scenario: Scenario,
  mutated: MutatedEngine,
  sound: MutatedEngine,
  seeds: readonly number[],
): Promise<number | "survived"> {
  for (const seed of seeds) {
    const engine = mutated.startMemoryEngine(scenario.site ?? {}, seed);
    const red = await redOf(scenario, engine);
    if (red === null) continue;
    if (await hasCrashed(engine, scenario)) throw new Error("the code crashes under this mutant", { cause: red });
    const control = await heldIn(
      heldIn(soundScenarios, scenario, () => new Map()),
      seed,
      () => redOf(scenario, sound.startMemoryEngine(scenario.site ?? {}, seed)),
    );
    if (control !== null) throw new Error("the scenario is red without the mutant as well", { cause: control });
    return seed;
  }
  return "survived";
}

/** The failure of a scenario; `null` if it passes. An engine that never comes to rest is a failure, too. */
async function redOf(scenario: Scenario, engine: Engine): Promise<unknown> {
  try {
    await play(scenario, engine);
    await engine.stop();
    return null;
  } catch (red) {
    return red;
  }
}

/** Whether the last catch of an isolate had to answer. A mutant must make a rule wrong, not make the code crash. */
async function hasCrashed(engine: Engine, scenario: Scenario): Promise<boolean> {
  const fields = { authorization: `Bearer ${TOKEN}` };
  const steps = JSON.stringify(scenario.steps);
  const used = ISOLATES.filter((isolate, index) => index === 0 || steps.includes(`"isolate":"${isolate}"`));
  const asked = used.map((isolate) => engine.send({ path: "/_tidemark/stats?scope=isolate", isolate, fields }));
  const answers = await engine.settle(Promise.all(asked));
  return answers.some(({ body }) => (JSON.parse(body) as { failures: number }).failures > 0);
}

async function huntBySimulation(
  mutated: MutatedEngine,
  sound: MutatedEngine,
  seeds: readonly number[],
): Promise<number | "survived"> {
  for (const seed of seeds) {
    const { bugs, broken } = await new mutated.World(seed).run();
    if (bugs.length > 0) throw new Error(`the code crashes under this mutant: ${bugs[0]}`);
    if (broken.length === 0) continue;
    const control = await heldIn(soundWorlds, seed, async () => (await new sound.World(seed).run()).broken);
    if (control.length > 0) throw new Error("a promise breaks without the mutant as well");
    return seed;
  }
  return "survived";
}
