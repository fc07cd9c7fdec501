import { beforeAll, describe, expect, test } from "vitest";
import type { configuredTokens } from "../../../worker/control/tokens.ts";
import type { startMemoryEngine } from "../../engine/memory-engine.ts";
import { TOKEN } from "../../engine/scenario.ts";
import { ModuleGraph } from "../../mutants/module-graph.ts";
import { CALLS, checkAuditTrail, checkCall, checkLargeBody, publishPages, refetched } from "./door-checks.ts";
import { DOOR_TOKENS, type DoorEdge, EVERY_DOOR, overEngine, TOKEN_LIST, tokensInMemory } from "./door-edges.ts";
import { type DoorMutant, doorMutants } from "./door-mutants.ts";
import { CLOUDFLARE } from "./recorded-calls.ts";

const ENGINE = "test/engine/memory-engine.ts";
const TOKENS = "worker/control/tokens.ts";

/** The modules of one instance by their paths. */
type Modules = (path: string) => unknown;

/** Starts an edge in memory over the modules, with pages in its store. */
async function startEdge(modules: Modules, doors: object = EVERY_DOOR): Promise<DoorEdge> {
  const { startMemoryEngine: start } = modules(ENGINE) as { startMemoryEngine: typeof startMemoryEngine };
  const engine = overEngine(start({ doors }, 1, undefined, tokensInMemory));
  const edge: DoorEdge = {
    ...engine,
    async ask(request) {
      const answer = await engine.ask(request);
      if (answer.body.includes("the edge failed")) crashed.add(modules);
      return answer;
    },
  };
  await publishPages(edge);
  return edge;
}

/** What rejects if a rule is wrong, by the names that mutants use. */
const CHECKS: ReadonlyMap<string, (modules: Modules) => Promise<void>> = new Map([
  ...Object.entries(CALLS).flatMap(([vendor, cases]) =>
    cases.map((each) => [`${vendor}: ${each.name}`, onEdge((edge) => checkCall(edge, each))] as const),
  ),
  ["audit trail", onEdge(checkAuditTrail)],
  ["large body", onEdge(checkLargeBody)],
  [
    "closed doors",
    onEdge(
      async (edge) => {
        for (const { request } of CLOUDFLARE) expect((await edge.ask(request)).status).toBe(404);
        for (const name of ["constructor", "__proto__", "toString", ""]) {
          expect((await edge.ask({ path: `/_tidemark/doors/${name}/x` })).status).toBe(404);
        }
        expect(await refetched(edge)).toEqual([]);
      },
      { keycdn: EVERY_DOOR.keycdn },
    ),
  ],
  [
    "tokens",
    async (modules) => {
      const { configuredTokens: configured } = modules(TOKENS) as { configuredTokens: typeof configuredTokens };
      const tokens = configured({ TIDEMARK_TOKEN: TOKEN, TIDEMARK_TOKENS: TOKEN_LIST }, () => undefined);
      const scopes = ["purge", "read", ...Object.values(DOOR_TOKENS).map(([, scope]) => scope)] as const;
      for (const [token, own] of [...Object.values(DOOR_TOKENS), [TOKEN, "purge"]] as const) {
        const opened: string[] = [];
        for (const scope of scopes) if ((await tokens.check(token, scope)).kind === "allowed") opened.push(scope);
        expect(opened).toEqual(token === TOKEN ? ["purge", "read"] : [own]);
      }
    },
  ],
]);

/** A check against an edge. A call that crashes the code says nothing of a rule, and is an error of its own. */
function onEdge(check: (edge: DoorEdge) => Promise<void>, doors?: object): (modules: Modules) => Promise<void> {
  return async (modules) => {
    const edge = await startEdge(modules, doors);
    try {
      await check(edge);
    } finally {
      await edge.stop();
    }
  };
}

const crashed = new WeakSet<Modules>();

let graph: ModuleGraph;
beforeAll(async () => {
  graph = await ModuleGraph.load([ENGINE, TOKENS]);
});

async function withMutation({ file, from, to }: DoorMutant): Promise<Modules> {
  const pieces = graph.textOf(file)?.split(from) ?? [];
  expect(pieces, `${file} has this text once: ${from}`).toHaveLength(2);
  return graph.instantiate({ path: file, text: pieces.join(to) });
}

describe("a wrong rule of the doors is found", () => {
  test.each(doorMutants.map((mutant) => ({ ...mutant, mutant })))("$name", async ({ reddens, mutant }) => {
    const check = CHECKS.get(reddens);
    if (check === undefined) throw new Error(`there is no check ${reddens}`);
    const modules = await withMutation(mutant);
    const red = await check(modules).then(
      () => null,
      (error: unknown) => error,
    );
    expect(red, `the mutant survived ${reddens}`).not.toBeNull();
    expect(crashed.has(modules), `the code crashes under this mutant: ${red}`).toBe(false);
  });

  // The calls and the other checks are those of doors.test.ts, which the correct code passes.
  test.each(["closed doors", "tokens"])("the correct code passes %s", async (name) => {
    await CHECKS.get(name)!(await graph.instantiate());
  });

  test("a mutant that changes nothing would survive", async () => {
    const nothing = { ...doorMutants[0]!, to: doorMutants[0]!.from };
    await CHECKS.get(nothing.reddens)!(await withMutation(nothing));
  });
});
