import type { startMemoryEngine } from "../engine/memory-engine.ts";
import type { World } from "../simulation/world.ts";
import { ModuleGraph } from "./module-graph.ts";
import type { Mutation } from "./mutant.ts";

/** The engine of scenarios and simulation over sources of its own, which share no state with others. */
export interface MutatedEngine {
  readonly startMemoryEngine: typeof startMemoryEngine;
  readonly World: typeof World;
}

const ENGINE = "test/engine/memory-engine.ts";
const WORLD = "test/simulation/world.ts";

let sources: Promise<ModuleGraph> | undefined;

/**
 * Runs the sources anew with one mutation, or with none. Packages are not part of them: they are never mutated, so they
 * are loaded once. Rejects if the mutation cannot be made.
 */
export async function mutatedEngine(mutation: Mutation | null): Promise<MutatedEngine> {
  sources ??= ModuleGraph.load([ENGINE, WORLD]);
  const graph = await sources;
  const exportsOf = await graph.instantiate(
    mutation ? { path: mutation.file, text: mutate(graph, mutation) } : undefined,
  );
  const { startMemoryEngine } = exportsOf(ENGINE) as Pick<MutatedEngine, "startMemoryEngine">;
  const { World } = exportsOf(WORLD) as Pick<MutatedEngine, "World">;
  return { startMemoryEngine, World };
}

/** A module's text with the wrong piece in place of the original. */
function mutate(graph: ModuleGraph, { file, from, to }: Mutation): string {
  const text = graph.textOf(file);
  if (text === undefined) throw new Error(`${file} is not among the sources that run in memory`);
  const pieces = text.split(from);
  if (pieces.length !== 2) {
    throw new Error(`${file} must have this text once, and has it ${pieces.length - 1} times: ${from}`);
  }
  return pieces.join(to);
}
