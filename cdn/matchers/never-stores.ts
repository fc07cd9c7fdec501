import type { CdnAnswer } from "../answer.ts";
import type { Cdn } from "../cdn.ts";
import { explanation } from "./explanation.ts";
import type { Judgement } from "./claim-result.ts";
import type { Reply } from "../scripted-origin.ts";

/** Who asks. */
const VISITORS: readonly (readonly [name: string, fields: Readonly<Record<string, string>>])[] = [
  ["a guest", {}],
  ["a user with a cookie", { cookie: "session=1" }],
  ["a user with a password", { authorization: "Basic dXNlcjpwYXNz" }],
];

/** What an origin says that wants to be cached: only the site's own rules keep this from being stored. */
const TEMPTING: Reply = { fields: { "cache-control": "public, max-age=3600" }, body: "only for some" };

/**
 * Nothing under a pattern like `/admin/*` is ever stored: guests and users ask twice for each path, and nobody gets an
 * answer from store. The paths are those of the origin's script that match, with the replies scripted. If it has none,
 * some are made up, and the origin answers them as `public`: then the site's rules alone have to keep them out.
 */
export async function neverStores(cdn: Cdn, pattern: string): Promise<Judgement> {
  const origin = cdn.origin;
  const scripted = origin.targets.filter((target) => patternOf(pattern).test(target));
  const madeUp = ["", "a", "a/b", "?a=1"].map((rest) => pattern.replace(/:\w+/g, "a").replace("*", rest));
  if (scripted.length === 0) origin.replyOtherwise(TEMPTING);
  try {
    const paths = scripted.length > 0 ? scripted : [...new Set(madeUp)];
    for (const path of paths) {
      for (const [visitor, fields] of VISITORS) {
        const answers = [await cdn.get(path, { fields }), await cdn.get(path, { fields })];
        const culprit = answers.find(isStored);
        if (culprit) {
          const words = `expected nothing under ${pattern} to be stored, but ${path} was, when ${visitor} asked for it`;
          const why = await explanation(culprit);
          return { holds: false, against: `${words}\n\n${why}`, for: "" };
        }
      }
    }
    return { holds: true, against: "", for: `expected something under ${pattern} to be stored: ${paths.join(", ")}` };
  } finally {
    origin.replyOtherwise(undefined);
  }
}

function isStored({ xCache, cacheStatus }: CdnAnswer): boolean {
  return xCache === "HIT" || /;\s*(stored|hit)\b/.test(cacheStatus ?? "");
}

/** URLPattern pathname syntax, as far as choosing among known paths needs it. */
function patternOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+?^$()[\]\\|]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/:\w+/g, "[^/?]+");
  return new RegExp(`^${source}(?:\\?.*)?$`);
}
