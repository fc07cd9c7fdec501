import type { RouteStats, SiteStats } from "../stats.ts";
import { percent, whole } from "../text/numbers.ts";
import { printable } from "../text/printable.ts";
import { LEAST_GAIN, LEAST_REQUESTS, onRoute, routesOf, type Verdict, withMoreHits } from "./verdict.ts";

/** Answers that are not stored, although they could be. */
export function storingVerdicts(stats: SiteStats): Verdict[] {
  const routes = routesOf(stats.routes);
  return [
    ...routes.flatMap(([pattern, route]) => sameForAll(pattern, route)),
    ...unkeyedFields(stats),
    ...routes.flatMap(([pattern, route]) => tooLarge(pattern, route)),
  ];
}

/** What makes an answer personal, and what to do if it is for everybody. */
const FOR_ONE: Readonly<Record<string, { readonly says: string; readonly setting: string }>> = {
  private: {
    says: "are `private`",
    setting: "let the origin send `Cache-Control: public` with a lifetime",
  },
  "set-cookie": { says: "set a cookie", setting: "set `stripSetCookie` to `true`" },
  cookie: {
    says: "answer requests with cookies",
    setting: "let the origin send `Cache-Control: public`, or name the cookies in `cookies.ignore`",
  },
};

function sameForAll(pattern: string, route: RouteStats): Verdict[] {
  const { same, different } = route.compared.visitors;
  const [because, refused] =
    Object.entries(route.refused)
      .filter(([reason]) => Object.hasOwn(FOR_ONE, reason))
      .sort(([, a], [, b]) => b - a)[0] ?? [];
  if (because === undefined || refused === undefined || refused < LEAST_REQUESTS) return [];
  if (same === 0 || different > 0) return [];
  const { says, setting } = FOR_ONE[because]!;
  const hitRatio = withMoreHits(route, refused);
  return [
    {
      kind: "same-for-all",
      route: pattern,
      evidence:
        `${whole(refused)} answers on ${onRoute(pattern)} were not stored, because they ${says}; yet ` +
        `${same === 1 ? "a page was" : `${whole(same)} pages were`} the same for 20 visitors in a row, and none differed`,
      setting: `if that is so for everybody, ${setting}`,
      effect: `up to ${percent(hitRatio.after)} of its requests would come from the cache instead of ${percent(hitRatio.now)}`,
      savedFetches: refused,
      hitRatio,
    },
  ];
}

function unkeyedFields({ store, requests }: SiteStats): Verdict[] {
  return Object.entries(store.unkeyedFields)
    .filter(([name, count]) => name !== "(others)" && count >= LEAST_REQUESTS && count >= requests * LEAST_GAIN)
    .map(([given, count]) => {
      const name = printable(given);
      return {
        kind: "unkeyed-field",
        route: null,
        evidence: `${whole(count)} answers were not stored, because the request had \`${name}\`, which is not in the key`,
        setting: `if it changes the page, add \`"${name}"\` to \`key.fields\`; if not, to \`fields.drop\``,
        effect: `up to ${whole(count)} answers could be stored`,
        savedFetches: count,
      } as const;
    });
}

function tooLarge(pattern: string, route: RouteStats): Verdict[] {
  const { "too-large": refused = 0 } = route.refused;
  if (refused < Math.max(LEAST_REQUESTS, route.requests * LEAST_GAIN)) return [];
  return [
    {
      kind: "too-large",
      route: pattern,
      evidence: `${whole(refused)} answers on ${onRoute(pattern)} were not stored, because they are too large`,
      setting:
        "raise `limits.largeBytes`, or `--disk` of a `tidemark serve` without it; let the origin send `Content-Length`, without which `limits.storeBytes` applies",
      effect: `up to ${whole(refused)} answers could be stored`,
      savedFetches: refused,
    },
  ];
}
