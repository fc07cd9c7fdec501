import { mutants as bodies } from "../scenarios/bodies/mutants.ts";
import { mutants as bypass } from "../scenarios/bypass/mutants.ts";
import { mutants as cacheGroups } from "../scenarios/cache-groups/mutants.ts";
import { mutants as clientResponse } from "../scenarios/client-response/mutants.ts";
import { mutants as collapsing } from "../scenarios/collapsing/mutants.ts";
import { mutants as compression } from "../scenarios/compression/mutants.ts";
import { mutants as directives } from "../scenarios/directives/mutants.ts";
import { mutants as explain } from "../scenarios/explain/mutants.ts";
import { mutants as forwarding } from "../scenarios/forwarding/mutants.ts";
import { mutants as freshening } from "../scenarios/freshening/mutants.ts";
import { mutants as freshness } from "../scenarios/freshness/mutants.ts";
import { mutants as identity } from "../scenarios/identity/mutants.ts";
import { mutants as invalidation } from "../scenarios/invalidation/mutants.ts";
import { mutants as invalidationLog } from "../scenarios/invalidation-log/mutants.ts";
import { mutants as key } from "../scenarios/key/mutants.ts";
import { mutants as purgeProtocol } from "../scenarios/purge-protocol/mutants.ts";
import { mutants as purging } from "../scenarios/purging/mutants.ts";
import { mutants as ranges } from "../scenarios/ranges/mutants.ts";
import { mutants as secondLook } from "../scenarios/second-look/mutants.ts";
import { mutants as staleIfError } from "../scenarios/stale-if-error/mutants.ts";
import { mutants as staleWhileRevalidate } from "../scenarios/stale-while-revalidate/mutants.ts";
import { mutants as storing } from "../scenarios/storing/mutants.ts";
import { mutants as targetedFields } from "../scenarios/targeted-fields/mutants.ts";
import { mutants as validation } from "../scenarios/validation/mutants.ts";
import { mutants as variants } from "../scenarios/variants/mutants.ts";
import { mutants as worlds } from "../simulation/mutants.ts";
import type { Mutant } from "./mutant.ts";

const areas = {
  bodies: bodies,
  bypass: bypass,
  "cache-groups": cacheGroups,
  "client-response": clientResponse,
  collapsing: collapsing,
  compression: compression,
  directives: directives,
  explain: explain,
  forwarding: forwarding,
  freshening: freshening,
  freshness: freshness,
  identity: identity,
  invalidation: invalidation,
  "invalidation-log": invalidationLog,
  key: key,
  "purge-protocol": purgeProtocol,
  purging: purging,
  ranges: ranges,
  "second-look": secondLook,
  "stale-if-error": staleIfError,
  "stale-while-revalidate": staleWhileRevalidate,
  storing: storing,
  "targeted-fields": targetedFields,
  validation: validation,
  variants: variants,
  worlds,
};

/** Every mutant by its id: its area, which is a folder of test/scenarios or `worlds`, and its name there. */
export const mutants: ReadonlyMap<string, Mutant> = new Map(
  Object.entries(areas).flatMap(([area, ofArea]) =>
    Object.entries(ofArea).map(([name, mutant]) => [`${area}/${name}`, mutant] as const),
  ),
);
