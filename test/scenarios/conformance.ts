import { rows as bodies } from "./bodies/conformance.ts";
import { rows as bypass } from "./bypass/conformance.ts";
import { rows as cacheGroups } from "./cache-groups/conformance.ts";
import { rows as clientResponse } from "./client-response/conformance.ts";
import { rows as collapsing } from "./collapsing/conformance.ts";
import { rows as compression } from "./compression/conformance.ts";
import type { ConformanceRow } from "./conformance-row.ts";
import { rows as deltas } from "./deltas/conformance.ts";
import { rows as directives } from "./directives/conformance.ts";
import { rows as forwarding } from "./forwarding/conformance.ts";
import { rows as freshening } from "./freshening/conformance.ts";
import { rows as freshness } from "./freshness/conformance.ts";
import { rows as identity } from "./identity/conformance.ts";
import { rows as invalidation } from "./invalidation/conformance.ts";
import { rows as invalidationLog } from "./invalidation-log/conformance.ts";
import { rows as key } from "./key/conformance.ts";
import { rows as ranges } from "./ranges/conformance.ts";
import { rows as secondLook } from "./second-look/conformance.ts";
import { rows as staleIfError } from "./stale-if-error/conformance.ts";
import { rows as staleWhileRevalidate } from "./stale-while-revalidate/conformance.ts";
import { rows as storing } from "./storing/conformance.ts";
import { rows as targetedFields } from "./targeted-fields/conformance.ts";
import { rows as validation } from "./validation/conformance.ts";
import { rows as variants } from "./variants/conformance.ts";

/** Every row of docs/conformance.md. Rows of one section stay in this order of areas. */
export const rows: readonly ConformanceRow[] = [
  ...storing,
  ...freshness,
  ...directives,
  ...identity,
  ...bypass,
  ...clientResponse,
  ...key,
  ...bodies,
  ...ranges,
  ...secondLook,
  ...forwarding,
  ...collapsing,
  ...compression,
  ...deltas,
  ...variants,
  ...validation,
  ...freshening,
  ...staleWhileRevalidate,
  ...staleIfError,
  ...invalidation,
  ...invalidationLog,
  ...targetedFields,
  ...cacheGroups,
];
