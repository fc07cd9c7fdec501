import type { Scenario } from "../engine/scenario.ts";
import { scenarios as bodiesReadingLargeBodies } from "./bodies/reading-large-bodies.ts";
import { scenarios as bodies } from "./bodies/scenarios.ts";
import { scenarios as bodiesStoringLargeBodies } from "./bodies/storing-large-bodies.ts";
import { scenarios as bypass } from "./bypass/scenarios.ts";
import { scenarios as cacheGroups } from "./cache-groups/scenarios.ts";
import { scenarios as capacity } from "./capacity/scenarios.ts";
import { scenarios as clientResponseBrowserTtl } from "./client-response/browser-ttl.ts";
import { scenarios as clientResponseCacheStatus } from "./client-response/cache-status.ts";
import { scenarios as clientResponse } from "./client-response/scenarios.ts";
import { scenarios as collapsing } from "./collapsing/scenarios.ts";
import { scenarios as compression } from "./compression/scenarios.ts";
import { scenarios as deltas } from "./deltas/scenarios.ts";
import { scenarios as directivesOfRequests } from "./directives/of-requests.ts";
import { scenarios as directivesOfResponses } from "./directives/of-responses.ts";
import { scenarios as explain } from "./explain/scenarios.ts";
import { scenarios as forwardingInterimResponses } from "./forwarding/interim-responses.ts";
import { scenarios as forwarding } from "./forwarding/scenarios.ts";
import { scenarios as fresheningByHead } from "./freshening/by-head.ts";
import { scenarios as freshening } from "./freshening/scenarios.ts";
import { scenarios as freshness } from "./freshness/scenarios.ts";
import { scenarios as identity } from "./identity/scenarios.ts";
import { scenarios as invalidation } from "./invalidation/scenarios.ts";
import { scenarios as invalidationLogRaces } from "./invalidation-log/races.ts";
import { scenarios as invalidationLog } from "./invalidation-log/scenarios.ts";
import { scenarios as keyChoices } from "./key/choices.ts";
import { scenarios as key } from "./key/scenarios.ts";
import { scenarios as purgeProtocolLeases } from "./purge-protocol/leases.ts";
import { scenarios as purgeProtocolLogs } from "./purge-protocol/logs.ts";
import { scenarios as purgeProtocolPushes } from "./purge-protocol/pushes.ts";
import { scenarios as purgeProtocol } from "./purge-protocol/scenarios.ts";
import { scenarios as purgeProtocolSharedViews } from "./purge-protocol/shared-views.ts";
import { scenarios as purgeProtocolTokens } from "./purge-protocol/tokens.ts";
import { scenarios as purgingDryRunAndAudit } from "./purging/dry-run-and-audit.ts";
import { scenarios as purgingHardPurgesInAWait } from "./purging/hard-purges-in-a-wait.ts";
import { scenarios as purgingItems } from "./purging/items.ts";
import { scenarios as purging } from "./purging/scenarios.ts";
import { scenarios as purgingSoftPurges } from "./purging/soft-purges.ts";
import { scenarios as purgingUnseenItems } from "./purging/unseen-items.ts";
import { scenarios as rangesFromOrigin } from "./ranges/from-origin.ts";
import { scenarios as rangesFromStore } from "./ranges/from-store.ts";
import { scenarios as secondLookReferer } from "./second-look/referer.ts";
import { scenarios as secondLook } from "./second-look/scenarios.ts";
import { scenarios as staleIfErrorKnownDown } from "./stale-if-error/known-down.ts";
import { scenarios as staleIfErrorPermission } from "./stale-if-error/permission.ts";
import { scenarios as staleIfErrorReplacedAnswers } from "./stale-if-error/replaced-answers.ts";
import { scenarios as staleWhileRevalidate } from "./stale-while-revalidate/scenarios.ts";
import { scenarios as storingByHead } from "./storing/by-head.ts";
import { scenarios as storing } from "./storing/scenarios.ts";
import { scenarios as targetedFields } from "./targeted-fields/scenarios.ts";
import { scenarios as validationOfClients } from "./validation/of-clients.ts";
import { scenarios as validation } from "./validation/scenarios.ts";
import { scenarios as variantsEncodings } from "./variants/encodings.ts";
import { scenarios as variantsParts } from "./variants/parts.ts";
import { scenarios as variants } from "./variants/scenarios.ts";
import { scenarios as variantsValidationAndPurges } from "./variants/validation-and-purges.ts";

/** Every scenario. Each area is a folder: its scenarios, the wrong rules that redden them, and its rows of docs/conformance.md. */
export const scenarios: readonly Scenario[] = [
  ...bodies,
  ...bodiesReadingLargeBodies,
  ...bodiesStoringLargeBodies,
  ...bypass,
  ...cacheGroups,
  ...capacity,
  ...clientResponse,
  ...clientResponseBrowserTtl,
  ...clientResponseCacheStatus,
  ...collapsing,
  ...compression,
  ...deltas,
  ...directivesOfRequests,
  ...directivesOfResponses,
  ...explain,
  ...forwarding,
  ...forwardingInterimResponses,
  ...freshening,
  ...fresheningByHead,
  ...freshness,
  ...identity,
  ...invalidation,
  ...invalidationLog,
  ...invalidationLogRaces,
  ...key,
  ...keyChoices,
  ...purgeProtocol,
  ...purgeProtocolLeases,
  ...purgeProtocolLogs,
  ...purgeProtocolPushes,
  ...purgeProtocolSharedViews,
  ...purgeProtocolTokens,
  ...purging,
  ...purgingDryRunAndAudit,
  ...purgingItems,
  ...purgingHardPurgesInAWait,
  ...purgingSoftPurges,
  ...purgingUnseenItems,
  ...rangesFromOrigin,
  ...rangesFromStore,
  ...secondLook,
  ...secondLookReferer,
  ...staleIfErrorKnownDown,
  ...staleIfErrorPermission,
  ...staleIfErrorReplacedAnswers,
  ...staleWhileRevalidate,
  ...storing,
  ...storingByHead,
  ...targetedFields,
  ...validation,
  ...validationOfClients,
  ...variants,
  ...variantsEncodings,
  ...variantsParts,
  ...variantsValidationAndPurges,
];
