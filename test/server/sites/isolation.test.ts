import { beforeAll, describe, expect, test } from "vitest";
import type { WorkerProgram } from "../../../server/processes/worker-program.ts";
import * as edgeProgram from "../../../server/serve/edge-program.ts";
import { ModuleGraph } from "../../mutants/module-graph.ts";
import { CHECKS } from "./isolation-checks.ts";
import { type IsolationMutant, isolationMutants } from "./isolation-mutants.ts";

const PROGRAM = "server/serve/edge-program.ts";

describe("several sites on one listener", { timeout: 60_000 }, () => {
  describe.each([true, false])("with the fast way: %s", (usesFastAnswers) => {
    test.each(Object.keys(CHECKS))("%s", (name) => CHECKS[name]!(edgeProgram, { usesFastAnswers }));
  });
});

describe("a wrong rule of what keeps sites apart is found", { timeout: 60_000 }, () => {
  let graph: ModuleGraph;
  beforeAll(async () => {
    graph = await ModuleGraph.load([PROGRAM]);
  });

  const withMutation = async ({ file, from, to }: IsolationMutant): Promise<WorkerProgram> => {
    const pieces = graph.textOf(file)?.split(from) ?? [];
    expect(pieces, `${file} has this text once: ${from}`).toHaveLength(2);
    const modules = await graph.instantiate({ path: file, text: pieces.join(to) });
    return modules(PROGRAM) as WorkerProgram;
  };
  const isRed = (mutant: IsolationMutant, program: WorkerProgram) =>
    CHECKS[mutant.reddens]!(program, { usesFastAnswers: false }).then(
      () => false,
      () => true,
    );

  test.each(isolationMutants.map((mutant) => ({ ...mutant, mutant })))("$name", async ({ mutant }) => {
    expect(await isRed(mutant, await withMutation(mutant)), `the mutant survived ${mutant.reddens}`).toBe(true);
  });

  test("a mutant that changes nothing would survive", async () => {
    const nothing = { ...isolationMutants[0]!, to: isolationMutants[0]!.from };
    expect(await isRed(nothing, await withMutation(nothing))).toBe(false);
  });
});
