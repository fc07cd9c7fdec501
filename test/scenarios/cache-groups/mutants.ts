import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of cache groups. */
export const mutants: Mutants = {
  "RFC 9875 §3": {
    "a GET that is passed on counts as unsafe": {
      in: "SAFE_METHODS",
      replace: '"GET", "HEAD"',
      by: '"HEAD"',
      foundBy: "cache-groups/answer-to-get",
    },
  },
  "RFC 9875 §2.1": {
    "a page's groups are not stored": {
      in: "decideStorage",
      replace: "...tags.map(tagPurgeKey), ...groups]",
      by: "...tags.map(tagPurgeKey)]",
      foundBy: "cache-groups/named-groups-only",
    },
    "one host invalidates another's groups": {
      in: "groupPurgeKey",
      replace: "`group:${scheme}://${host} ${group}`",
      by: "`group:${scheme} ${group}`",
      foundBy: "cache-groups/groups-of-one-host",
    },
    "the names of groups are not case-sensitive": {
      in: "cacheGroups",
      replace: "return [...new Set(groups)]",
      by: "return [...new Set(groups.map((group) => group.toLowerCase()))]",
      foundBy: "cache-groups/named-groups-only",
    },
    "a group with parameters counts as another one": {
      in: "listValues",
      replace: "([, value]) => memberValue(value!)",
      by: '([all, value]) => (all.includes(";") ? memberValue(value!) + ";" : memberValue(value!))',
      foundBy: "cache-groups/named-groups-only",
    },
  },
  "RFC 9875 §2": {
    "Cache-Group-Invalidation is not read": {
      in: "invalidateAfter",
      replace: "purgeKeys.push(...groups",
      by: "purgeKeys.push(...groups.slice(1)",
      foundBy: "cache-groups/longest-group-name",
    },
    "a group is filed under the tag of the same name": {
      in: "groupPurgeKey",
      replace: "`group:${scheme}://${host} ${group}`",
      by: "`#${group}`",
      foundBy: "cache-groups/groups-are-not-tags",
    },
    "strings beside a member of another type are read": {
      in: "cacheGroups",
      replace:
        'if (!values.every((value) => typeof value === "string")) return []; const groups = values.filter((group) =>',
      by: 'const groups = values.filter((group) => typeof group === "string" &&',
      foundBy: "cache-groups/malformed-mixed-types",
    },
    "a group of 256 characters is ignored": {
      in: "MAX_GROUP_CHARACTERS",
      replace: "MAX_GROUP_CHARACTERS = 256",
      by: "MAX_GROUP_CHARACTERS = 255",
      foundBy: "cache-groups/longest-group-name",
    },
    "a group of 257 characters is read": {
      in: "MAX_GROUP_CHARACTERS",
      replace: "MAX_GROUP_CHARACTERS = 256",
      by: "MAX_GROUP_CHARACTERS = 257",
      foundBy: "cache-groups/longest-group-name",
    },
    "one group that is too long makes the whole field count as absent": {
      in: "cacheGroups",
      replace: ".filter((group) => group.length <= MAX_GROUP_CHARACTERS)",
      by: "",
      foundBy: "cache-groups/longest-group-name",
    },
    "a page that a 304 freshened has only the 304's groups": {
      in: "freshen",
      replace: "[...decision.head.givenPurgeKeys, ...head.givenPurgeKeys]",
      by: "decision.head.givenPurgeKeys",
      foundBy: "cache-groups/groups-on-304",
    },
    "clients do not see a page's groups": {
      in: "REPLACED",
      replace: '"x-cache", ',
      by: '"x-cache", "cache-groups", ',
      foundBy: "cache-groups/clients-see-groups",
    },
  },
  "RFC 9875 §2.2.1": {
    "an unsafe request invalidates all members of its page's groups": {
      in: "invalidateAfter",
      replace: "if (purgeKeys.length === 0) return;",
      by: `for (const { cacheKey } of invalidated) {
  const stored = ports.store.recall(cacheKey);
  if (stored && "givenPurgeKeys" in stored.head) purgeKeys.push(...stored.head.givenPurgeKeys.filter((each) => each.startsWith("group:")));
}`,
      foundBy: "cache-groups/groups-of-the-target",
    },
  },
};
