import type { Mutants } from "../../mutants/mutant.ts";

const CACHE_GROUPS = "worker/rules/invalidation/cache-groups.ts";
const INVALIDATION = "worker/flow/origin/invalidation.ts";
const SAFE_METHOD = "worker/rules/invalidation/safe-method.ts";

/** Wrong rules of cache groups. */
export const mutants: Mutants = {
  "get-invalidates": {
    name: "a GET that is passed on counts as unsafe",
    file: SAFE_METHOD,
    from: '"GET", "HEAD"',
    to: '"HEAD"',
    reddens: "cache-groups/answer-to-get",
  },
  "groups-are-not-kept": {
    name: "a page's groups are not stored",
    file: "worker/flow/storing/storage-decision.ts",
    from: "...tags.map(tagPurgeKey), ...groups]",
    to: "...tags.map(tagPurgeKey)]",
    reddens: "cache-groups/named-groups-only",
  },
  "groups-are-not-told": {
    name: "Cache-Group-Invalidation is not read",
    file: INVALIDATION,
    from: "purgeKeys.push(...groups",
    to: "purgeKeys.push(...groups.slice(1)",
    reddens: "cache-groups/longest-group-name",
  },
  "groups-are-of-all-hosts": {
    name: "one host invalidates another's groups",
    file: "worker/rules/key/purge-key.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is a template of the quoted source
    from: "`group:${scheme}://${host} ${group}`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    to: "`group:${scheme} ${group}`",
    reddens: "cache-groups/groups-of-one-host",
  },
  "groups-are-tags": {
    name: "a group is filed under the tag of the same name",
    file: "worker/rules/key/purge-key.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is a template of the quoted source
    from: "`group:${scheme}://${host} ${group}`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    to: "`#${group}`",
    reddens: "cache-groups/groups-are-not-tags",
  },
  "groups-are-lower-case": {
    name: "the names of groups are not case-sensitive",
    file: CACHE_GROUPS,
    from: "return [...new Set(groups)]",
    to: "return [...new Set(groups.map((group) => group.toLowerCase()))]",
    reddens: "cache-groups/named-groups-only",
  },
  "parameters-are-part-of-groups": {
    name: "a group with parameters counts as another one",
    file: CACHE_GROUPS,
    from: "map(([value]) => value)",
    to: 'map(([value, parameters]) => (parameters.size > 0 ? String(value) + ";" : value))',
    reddens: "cache-groups/named-groups-only",
  },
  "one-string-is-enough": {
    name: "strings beside a member of another type are read",
    file: CACHE_GROUPS,
    from: 'values.every((value) => typeof value === "string") ? values : []',
    to: 'values.filter((value) => typeof value === "string")',
    reddens: "cache-groups/malformed-mixed-types",
  },
  "longest-group-is-too-long": {
    name: "a group of 256 characters is ignored",
    file: CACHE_GROUPS,
    from: "MAX_GROUP_CHARACTERS = 256",
    to: "MAX_GROUP_CHARACTERS = 255",
    reddens: "cache-groups/longest-group-name",
  },
  "longer-group-is-read": {
    name: "a group of 257 characters is read",
    file: CACHE_GROUPS,
    from: "MAX_GROUP_CHARACTERS = 256",
    to: "MAX_GROUP_CHARACTERS = 257",
    reddens: "cache-groups/longest-group-name",
  },
  "long-group-spoils-the-others": {
    name: "one group that is too long makes the whole field count as absent",
    file: CACHE_GROUPS,
    from: ".filter((group) => group.length <= MAX_GROUP_CHARACTERS)",
    to: "",
    reddens: "cache-groups/longest-group-name",
  },
  "freshened-page-forgets-its-groups": {
    name: "a page that a 304 freshened has only the 304's groups",
    file: "worker/flow/storing/freshening.ts",
    from: "[...verdict.head.givenPurgeKeys, ...head.givenPurgeKeys]",
    to: "verdict.head.givenPurgeKeys",
    reddens: "cache-groups/groups-on-304",
  },
  "groups-are-hidden": {
    name: "clients do not see a page's groups",
    file: "worker/rules/forwarding/client-response-fields.ts",
    from: '["x-cache", ...TAG_FIELDS]',
    to: '["x-cache", "cache-groups", ...TAG_FIELDS]',
    reddens: "cache-groups/clients-see-groups",
  },
  "members-go-with-their-page": {
    name: "an unsafe request invalidates all members of its page's groups",
    file: INVALIDATION,
    from: "if (purgeKeys.length === 0) return;",
    to: `for (const { cacheKey } of invalidated) {
      const stored = ports.store.recall(cacheKey);
      if (stored && "givenPurgeKeys" in stored.head) purgeKeys.push(...stored.head.givenPurgeKeys.filter((each) => each.startsWith("group:")));
    }`,
    reddens: "cache-groups/groups-of-the-target",
  },
};
