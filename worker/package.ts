/** `tidemark/worker`: the exports for an owner's own worker. */
export { createEdge, type EdgeEnv } from "./create-edge.ts";
export { PurgeLog } from "./purges/log/purge-log.ts";
export { defineSite } from "./site/site.ts";
export { SiteError } from "./site/site-error.ts";
export type {
  AddressOrigin,
  BypassInput,
  CapacityInput,
  CompressionInput,
  CompressionLevels,
  CookiesInput,
  DeltasInput,
  DoorsInput,
  Duration,
  FieldsInput,
  ForwardInput,
  HeuristicInput,
  KeyInput,
  KeyQueryInput,
  LimitsInput,
  QueueInput,
  RouteInput,
  RoutePurgeInput,
  RouteStoreInput,
  ServiceOrigin,
  SiteInput,
  SitePurgeInput,
  SiteStoreInput,
  Size,
  StaleInput,
  StoreWhenInput,
} from "./site/site-input.ts";
