import type { Scenario } from "../engine/scenario.ts";
import { basics } from "./basics.ts";
import { browsers } from "./browsers.ts";
import { collapsing } from "./collapsing.ts";
import { directives } from "./directives.ts";
import { freshness } from "./freshness.ts";
import { identity } from "./identity.ts";
import { invalidation } from "./invalidation.ts";
import { keys } from "./keys.ts";
import { largeBodies } from "./large-bodies.ts";
import { outcomes } from "./outcomes.ts";
import { proxy } from "./proxy.ts";
import { purgeKinds } from "./purge-kinds.ts";
import { purges } from "./purges.ts";
import { ranges } from "./ranges.ts";
import { sharing } from "./sharing.ts";
import { stale } from "./stale.ts";
import { stories } from "./stories.ts";
import { storiesOfPages } from "./stories-of-pages.ts";
import { storiesOfTheLease } from "./stories-of-the-lease.ts";
import { storiesOfTheLog } from "./stories-of-the-log.ts";
import { targeted } from "./targeted.ts";
import { validation } from "./validation.ts";
import { variants } from "./variants.ts";

/** Every scenario. */
export const scenarios: readonly Scenario[] = [
  ...basics,
  ...proxy,
  ...keys,
  ...identity,
  ...purges,
  ...purgeKinds,
  ...sharing,
  ...stories,
  ...storiesOfTheLog,
  ...storiesOfTheLease,
  ...storiesOfPages,
  ...collapsing,
  ...directives,
  ...targeted,
  ...freshness,
  ...browsers,
  ...outcomes,
  ...validation,
  ...variants,
  ...ranges,
  ...stale,
  ...invalidation,
  ...largeBodies,
];
