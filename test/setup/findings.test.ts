import { beforeAll, describe, expect, test } from "vitest";
import { ModuleGraph } from "../mutants/module-graph.ts";
import { checkMutants } from "./check-mutants.ts";
import { type CheckRules, differenceOf, findingCases } from "./findings.ts";

const FILES = ["wrangler-settings", "site-findings", "bundle-findings"].map((name) => `setup/check/${name}.ts`);

let graph: ModuleGraph;

beforeAll(async () => {
  graph = await ModuleGraph.load(FILES);
});

async function rulesWith(changed?: { readonly path: string; readonly text: string }): Promise<CheckRules> {
  const exportsOf = await graph.instantiate(changed);
  return Object.assign({}, ...FILES.map(exportsOf)) as CheckRules;
}

describe("tidemark check finds", () => {
  test.each(findingCases)("$name", async (each) => {
    expect(differenceOf(await rulesWith(), each)).toBeNull();
  });
});

describe("a wrong rule of the check is found", () => {
  test.each(checkMutants)("$name", async ({ file, from, to, reddens }) => {
    const pieces = graph.textOf(file)!.split(from);
    expect(pieces).toHaveLength(2);
    const rules = await rulesWith({ path: file, text: pieces.join(to) });
    const reddened = findingCases.find(({ name }) => name === reddens);
    expect(differenceOf(rules, reddened!)).not.toBeNull();
  });
});
