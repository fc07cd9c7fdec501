import type { startMemoryEngine } from "../../engine/memory/memory-engine.ts";
import type { World } from "../../simulation/world.ts";
import { ENTRIES } from "../entries.ts";
import { exportsOf } from "../finder.ts";
import type { Change } from "../mutant.ts";
import { ModuleGraph, type Modules } from "./module-graph.ts";
import { Sources } from "./sources.ts";

let loading: Promise<readonly [ModuleGraph, Sources]> | undefined;
let sound: Promise<Modules> | undefined;

/** The sources that mutants can change. */
export async function allSources(): Promise<Sources> {
  const [, sources] = await load();
  return sources;
}

/**
 * Runs the sources anew under a change, without state that they share with others. Rejects if the change cannot be made, or
 * if it reaches none of the modules that are then run.
 */
export async function mutated(change: Change, entries: readonly string[]): Promise<Modules> {
  const [graph, sources] = await load();
  const changed = sources.mutate(change);
  const reached = graph.reachedBy(changed.path);
  if (!entries.some((entry) => reached.has(entry))) {
    throw new Error(`${change.in} is in ${changed.path}, which is not among the sources that run`);
  }
  return graph.instantiate(changed);
}

/** The same without a change, for controls. */
export function soundModules(): Promise<Modules> {
  sound ??= load().then(([graph]) => graph.instantiate());
  return sound;
}

/** The engine of the scenarios and the worlds. */
export interface Engines {
  readonly startMemoryEngine: typeof startMemoryEngine;
  readonly World: typeof World;
}

export async function mutatedEngine(change: Change): Promise<Engines> {
  return enginesOf(await mutated(change, ENTRIES.engine));
}

export function enginesOf(modules: Modules): Engines {
  return exportsOf(modules, ENTRIES.engine) as Engines;
}

async function load(): Promise<readonly [ModuleGraph, Sources]> {
  loading ??= ModuleGraph.load([...new Set(Object.values(ENTRIES).flat())]).then((graph) => {
    const texts = [...graph.texts].filter(([path]) => path.endsWith(".ts") && !path.startsWith("test/"));
    return [graph, new Sources(new Map(texts))] as const;
  });
  return loading;
}
