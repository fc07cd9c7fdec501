import type { Scenario } from "../engine/scenario.ts";
import { basics } from "./basics.ts";
import { collapsing } from "./collapsing.ts";
import { identity } from "./identity.ts";
import { keys } from "./keys.ts";
import { proxy } from "./proxy.ts";
import { purges } from "./purges.ts";

/** Every scenario. */
export const scenarios: readonly Scenario[] = [...basics, ...proxy, ...keys, ...identity, ...purges, ...collapsing];
