import type { RouteStats, SiteStats } from "../stats.ts";
import { percent, whole } from "../text/numbers.ts";
import { LEAST_COMPARISONS, LEAST_GAIN, onRoute, routesOf, type Verdict, withMoreHits } from "./verdict.ts";

/** Parameters and fields that split one page into many, although comparisons never found a difference. */
export function keyVerdicts({ routes }: SiteStats): Verdict[] {
  return routesOf(routes).flatMap(([pattern, route]) => {
    const changes = Object.entries(route.compared.keys).filter(([change, { fetches, same, different }]) => {
      return isKnown(change) && same >= LEAST_COMPARISONS && different === 0 && fetches >= route.requests * LEAST_GAIN;
    });
    const best = (isIt: (change: string) => boolean) =>
      changes
        .filter(([change]) => isIt(change))
        .sort(([a, { fetches }], [b, { fetches: others }]) => others - fetches || breadth(a) - breadth(b))
        .slice(0, 1)
        .map(([change, { fetches, same }]) => verdictOn(pattern, route, change, fetches, same));
    const isVary = (change: string) => change.startsWith("vary ");
    return [...best((change) => !isVary(change)), ...best(isVary)];
  });
}

/** Further names are counted together. */
function isKnown(change: string): boolean {
  return Object.hasOwn(WORDS, change.split(" ", 1)[0]!);
}

/** If two changes have the same effect, the narrower one is advised. */
function breadth(change: string): number {
  if (change.endsWith(" *")) return 3;
  return change.endsWith("*") ? 2 : change.startsWith("drop ") ? 1 : 0;
}

function verdictOn(pattern: string, route: RouteStats, change: string, fetches: number, same: number): Verdict {
  const [kind, name] = change.split(" ", 2) as [string, string?];
  const hitRatio = withMoreHits(route, fetches);
  // Whatever is no hit fetches, perhaps after its answer, which an earlier report may have counted.
  const all = Math.max(fetches, route.requests - (route.answers.HIT ?? 0));
  const { differsIn, setting } = WORDS[kind]!(name ?? "");
  return {
    kind: kind === "vary" ? "vary" : "query",
    route: pattern,
    evidence:
      `${percent(fetches / all)} of the fetches on ${onRoute(pattern)} differ from the request for a ` +
      `fresh page only in ${differsIn}, and all ${whole(same)} bodies that were compared were the same`,
    setting,
    effect: `${percent(hitRatio.after)} of its requests would come from the cache instead of ${percent(hitRatio.now)}`,
    savedFetches: fetches,
    hitRatio,
  };
}

const WORDS: Readonly<Record<string, (name: string) => { differsIn: string; setting: string }>> = {
  drop: (name) =>
    name === "*"
      ? { differsIn: "the query", setting: "set `key.query.only` to `[]`" }
      : {
          differsIn: `the parameter \`${name}\``,
          setting: `add \`"${name}"\` to \`key.query.ignore\`, or take it out of \`key.query.only\``,
        },
  lowercase: (name) => ({
    differsIn: `the letter case of \`${name}\``,
    setting: `add \`"${name}"\` to \`key.query.lowercase\``,
  }),
  sort: () => ({ differsIn: "the order of the parameters", setting: "set `key.query.sort` to `true`" }),
  vary: (name) => ({
    differsIn: `the field \`${name}\``,
    setting: `add \`"${name}"\` to \`fields.drop\`, or take it out of the origin's \`Vary\``,
  }),
};
