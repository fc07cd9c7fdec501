import { expect } from "vitest";
import { readNamedTokens } from "../../../worker/control/access/named-tokens.ts";
import type { configuredTokens } from "../../../worker/control/access/tokens.ts";
import type { whyTokenIsNeeded } from "../../../worker/control/vendor-apis/purge-addresses.ts";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";
import { CLIENT_ADDRESS } from "../../engine/beginning.ts";
import { TOKEN } from "../../engine/scenario.ts";
import { ENTRIES } from "../../mutants/entries.ts";
import { type Check, Crash, type Finder, findersOf } from "../../mutants/finder.ts";
import type { Modules } from "../../mutants/sources/module-graph.ts";
import { enginesOf } from "../../mutants/sources/mutated-sources.ts";
import {
  CALLS,
  checkAuditTrail,
  checkCall,
  checkLargeBody,
  checkOtherCoding,
  publishPages,
  refetched,
} from "./door-checks.ts";
import { DOOR_TOKENS, type DoorEdge, EVERY_DOOR, overEngine, TOKEN_LIST, tokensInMemory } from "./door-edges.ts";
import { CLOUDFLARE } from "./recorded-calls.ts";

/** Calls from addresses that need a token, where the site names `CLIENT_ADDRESS`. */
const NEED_TOKENS = {
  "another address": { peer: "192.0.2.8", fields: {}, proxies: [] },
  "an unknown address": { peer: null, fields: {}, proxies: [] },
  "a trusted proxy": { peer: CLIENT_ADDRESS, fields: {}, proxies: ["192.0.2.0/24"] },
  "a field of a browser": { peer: CLIENT_ADDRESS, fields: { origin: "https://site.example" }, proxies: [] },
  "a field of a proxy": { peer: CLIENT_ADDRESS, fields: { "x-forwarded-for": CLIENT_ADDRESS }, proxies: [] },
} as const;

const CHECKS: readonly (readonly [name: string, Check])[] = [
  ...Object.entries(CALLS).flatMap(([vendor, cases]) =>
    cases.map((each) => [`${vendor}: ${each.name}`, onEdge((edge) => checkCall(edge, each))] as const),
  ),
  ["audit trail", onEdge(checkAuditTrail)],
  ["large body", onEdge(checkLargeBody)],
  ["other coding", onEdge(checkOtherCoding)],
  ["closed doors", onEdge(checkClosedDoors, { keycdn: EVERY_DOOR.keycdn })],
  ["tokens", checkTokens],
  ...Object.entries(NEED_TOKENS).map(
    ([name, call]) => [`by address: ${name}`, async (modules: Modules) => checkAddress(call, modules)] as const,
  ),
];

/** What recorded calls and others must do at the doors of an edge in memory, by name. */
export const doorFinders: ReadonlyMap<string, Finder> = findersOf(ENTRIES.doors, CHECKS);

/** A check against an edge in memory, with pages in its store. */
function onEdge(check: (edge: DoorEdge) => Promise<void>, doors: object = EVERY_DOOR): Check {
  return async (modules) => {
    const engine = overEngine(enginesOf(modules).startMemoryEngine({ doors }, 1, undefined, tokensInMemory));
    let crashed: string | undefined;
    const edge: DoorEdge = {
      ...engine,
      async ask(request) {
        const answer = await engine.ask(request);
        if (answer.body.includes("the edge failed")) crashed = answer.body;
        return answer;
      },
    };
    try {
      await publishPages(edge);
      await check(edge);
    } catch (failure) {
      throw crashed === undefined ? failure : new Crash(crashed);
    } finally {
      await edge.stop();
    }
  };
}

async function checkClosedDoors(edge: DoorEdge): Promise<void> {
  for (const { request } of CLOUDFLARE) expect((await edge.ask(request)).status).toBe(404);
  for (const name of ["constructor", "__proto__", "toString", ""]) {
    expect((await edge.ask({ path: `/_tidemark/doors/${name}/x` })).status).toBe(404);
  }
  expect(await refetched(edge)).toEqual([]);
}

type Call = (typeof NEED_TOKENS)[keyof typeof NEED_TOKENS];

/** The call needs a token, and the address of the site's own needs none. */
function checkAddress({ peer, fields, proxies }: Call, modules: Modules): void {
  const { whyTokenIsNeeded: why } = modules(ENTRIES.doors[2]) as { whyTokenIsNeeded: typeof whyTokenIsNeeded };
  const from = [readNetwork(CLIENT_ADDRESS)!];
  expect(why(CLIENT_ADDRESS, new Headers(), { from, proxies: [] })).toBeNull();
  expect(why(peer, new Headers(fields), { from, proxies: proxies.map((text) => readNetwork(text)!) })).not.toBeNull();
}

/** A token opens the door that its scope names, and no other. */
async function checkTokens(modules: Modules): Promise<void> {
  const { configuredTokens: configured } = modules(ENTRIES.doors[1]) as { configuredTokens: typeof configuredTokens };
  const tokens = configured({ TIDEMARK_TOKEN: TOKEN, TIDEMARK_TOKENS: TOKEN_LIST }, () => undefined, readNamedTokens);
  const scopes = ["purge", "read", ...Object.values(DOOR_TOKENS).map(([, scope]) => scope)] as const;
  for (const [token, own] of [...Object.values(DOOR_TOKENS), [TOKEN, "purge"]] as const) {
    const opened: string[] = [];
    for (const scope of scopes) if ((await tokens.check(token, scope)).kind === "allowed") opened.push(scope);
    expect(opened).toEqual(token === TOKEN ? ["purge", "read"] : [own]);
  }
}
