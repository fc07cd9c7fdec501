import type { CdnAnswer } from "../cdn/answer.ts";
import type { Cdn } from "../cdn/cdn.ts";
import type { Reply } from "../cdn/scripted-origin.ts";
import type { ClaimResult } from "./claim-result.ts";
import { explanation } from "./explanation.ts";

/** The visitors that request each path. */
const VISITORS: readonly (readonly [name: string, fields: Readonly<Record<string, string>>])[] = [
  ["a guest", {}],
  ["a user with a cookie", { cookie: "session=1" }],
  ["a user with a password", { authorization: "Basic dXNlcjpwYXNz" }],
];

/** A reply that may be stored unless the site's own rules forbid it. */
const STORABLE: Reply = { fields: { "cache-control": "public, max-age=3600" }, body: "only for some" };

/**
 * The claim that nothing under a pattern like `/admin/*` is ever stored. Guests and users request each path twice, and
 * none of the answers may come from the cache. The paths are those of the origin's script that match the pattern, with
 * their scripted replies, and made-up ones, which the origin answers with `public`: only the site's rules can keep these
 * out of the cache.
 */
export async function neverStores(cdn: Cdn, pattern: string): Promise<ClaimResult> {
  const origin = cdn.origin;
  const scripted = origin.targets.filter((target) => patternOf(pattern).test(target));
  const { defaultReply } = origin;
  origin.setDefaultReply(STORABLE);
  try {
    const paths = [...new Set([...scripted, ...madeUpPaths(pattern)])];
    for (const path of paths) {
      for (const [visitor, fields] of VISITORS) {
        const answers = [await cdn.get(path, { fields }), await cdn.get(path, { fields })];
        const stored = answers.find(isStored);
        if (stored) {
          const failure = `expected nothing under ${pattern} to be stored, but ${path} was when ${visitor} requested it`;
          return { holds: false, failure: `${failure}\n\n${await explanation(stored)}`, negatedFailure: "" };
        }
      }
    }
    const negatedFailure = `expected something under ${pattern} to be stored, but nothing was: ${paths.join(", ")}`;
    return { holds: true, failure: "", negatedFailure };
  } finally {
    origin.setDefaultReply(defaultReply);
  }
}

function isStored({ xCache, cacheStatus }: CdnAnswer): boolean {
  return xCache === "HIT" || /;\s*(stored|hit)\b/.test(cacheStatus ?? "");
}

/** Paths that the pattern matches, with its groups that may be absent and without them. */
function madeUpPaths(pattern: string): string[] {
  const [withGroups, without] = [pattern.replace(/\{([^{}]*)\}\??/g, "$1"), pattern.replace(/\{[^{}]*\}\?/g, "")];
  return [withGroups!, without!.replace(/[{}]/g, "")].flatMap((text) =>
    ["", "a", "a/b", "?a=1"].map((rest) => text.replace(/:\w+/g, "a").replace("*", rest)),
  );
}

/** The part of URLPattern's pathname syntax that choosing among known paths needs. */
function patternOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+?^$()[\]\\|]/g, "\\$&")
    .replace(/\{/g, "(?:")
    .replace(/\}(\\\?)?/g, (_, isOptional) => (isOptional ? ")?" : ")"))
    .replace(/\*/g, ".*")
    .replace(/:\w+/g, "[^/?]+");
  return new RegExp(`^${source}(?:\\?.*)?$`);
}
