import { bodies } from "./bodies.ts";
import { browsers } from "./browsers.ts";
import { collapsing } from "./collapsing.ts";
import { directives } from "./directives.ts";
import { fields } from "./fields.ts";
import { freshness } from "./freshness.ts";
import { identity } from "./identity.ts";
import { invalidation } from "./invalidation.ts";
import { keys } from "./keys.ts";
import { kinds } from "./kinds.ts";
import { large } from "./large.ts";
import { lifetimes } from "./lifetimes.ts";
import type { Mutant } from "./mutant.ts";
import { outcomes } from "./outcomes.ts";
import { protocol } from "./protocol.ts";
import { proxy } from "./proxy.ts";
import { purging } from "./purging.ts";
import { ranges } from "./ranges.ts";
import { reuse } from "./reuse.ts";
import { sharing } from "./sharing.ts";
import { stale } from "./stale.ts";
import { stories } from "./stories.ts";
import { storing } from "./storing.ts";
import { targeted } from "./targeted.ts";
import { telling } from "./telling.ts";
import { validation } from "./validation.ts";
import { variants } from "./variants.ts";
import { worlds } from "./worlds.ts";

const areas = {
  storing,
  freshness,
  reuse,
  validation,
  variants,
  ranges,
  keys,
  identity,
  collapsing,
  bodies,
  proxy,
  telling,
  purging,
  kinds,
  protocol,
  directives,
  targeted,
  lifetimes,
  browsers,
  fields,
  outcomes,
  stale,
  invalidation,
  large,
  sharing,
  stories,
  worlds,
};

/** Every mutant by the name that the pages call it: its file in this folder, and what it is called there. */
export const mutants: ReadonlyMap<string, Mutant> = new Map(
  Object.entries(areas).flatMap(([area, ofArea]) =>
    Object.entries(ofArea).map(([name, mutant]) => [`${area}/${name}`, mutant] as const),
  ),
);
