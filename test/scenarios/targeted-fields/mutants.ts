import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong readings of targeted fields. */
export const mutants: Mutants = {
  "RFC 9213 §2.2": {
    "CDN-Cache-Control is not read": {
      in: "USUAL_TARGETS",
      replace: '["cdn-cache-control", "surrogate-control"]',
      by: '["surrogate-control"]',
      foundBy: "targeted-fields/cdn-cache-control",
    },
    "clients do not get CDN-Cache-Control": {
      in: "compileChecked",
      replace: '[...ownField, "surrogate-control"]',
      by: '[...ownField, "surrogate-control", "cdn-cache-control"]',
      foundBy: "targeted-fields/cdn-cache-control",
    },
    "a restriction in a targeted field is not read": {
      in: "parseTargetedField",
      replace: "said[known.key] = value === true || !PERMISSIONS.has(name);",
      by: "said[known.key] = false;",
      foundBy: "targeted-fields/cdn-cache-control-forbids",
    },
    "CDN-Cache-Control outranks the site's own field": {
      in: "effectiveCacheControl",
      replace: "[targeted, USUAL_TARGETS]",
      by: "[USUAL_TARGETS, targeted]",
      foundBy: "targeted-fields/field-of-the-site",
    },
    "clients see the site's own field": {
      in: "compileChecked",
      replace: '[...ownField, "surrogate-control"]',
      by: '["surrogate-control"]',
      foundBy: "targeted-fields/field-of-the-site",
    },
    "a field that targets another cache is read": {
      in: "compileChecked",
      replace: "targetedFields: ownField,",
      by: 'targetedFields: ["example-cache-control"],',
      foundBy: "targeted-fields/field-of-another-cache",
    },
  },
  "RFC 9213 §2.1": {
    "an empty targeted field outranks Cache-Control": {
      in: "parseTargetedField",
      drop: "if (values.size === 0) return undefined;",
      foundBy: "targeted-fields/malformed-is-ignored",
    },
    "a malformed targeted field prevents storing": {
      in: "parseTargetedField",
      replace: "return undefined;",
      by: "return { ...emptyCacheControl(), noStore: true };",
      foundBy: "targeted-fields/malformed-is-ignored",
    },
    "Expires counts beside a targeted field": {
      in: "freshnessLifetime",
      replace: 'source === "cache-control" ? response.field("expires") : null',
      by: 'response.field("expires")',
      foundBy: "targeted-fields/invalid-lifetime",
    },
    "Cache-Control counts where a targeted field gives no lifetime": {
      in: "effectiveCacheControl",
      replace: "if (cacheControl !== undefined) return",
      by: 'if (cacheControl !== undefined && cacheControl.maxAge !== "absent") return',
      foundBy: "targeted-fields/invalid-lifetime",
    },
    "a decimal counts as a lifetime": {
      in: "memberValue",
      replace: "/^-?\\d+$/",
      by: "/^-?[\\d.]+$/",
      foundBy: "targeted-fields/invalid-lifetime",
    },
    "a string of digits counts as a lifetime": {
      in: "parseTargetedField",
      replace: 'typeof value === "number" && value >= 0; said[known.key] = isSeconds ? Math.min(value,',
      by: `typeof value !== "boolean" && value !== null && Number(value) >= 0;
said[known.key] = isSeconds ? Math.min(Number(value),`,
      foundBy: "targeted-fields/invalid-lifetime",
    },
    "a negative integer counts as a lifetime without its sign": {
      in: "parseTargetedField",
      replace: "value >= 0; said[known.key] = isSeconds ? Math.min(value,",
      by: `Number.isInteger(value);
said[known.key] = isSeconds ? Math.min(Math.abs(value),`,
      foundBy: "targeted-fields/invalid-lifetime",
    },
    "of duplicates in a targeted field, the first max-age counts": {
      in: "dictionaryValues",
      replace: "membersOf(text, DICTIONARY_MEMBER)",
      by: "membersOf(text, DICTIONARY_MEMBER).toReversed()",
      foundBy: "targeted-fields/last-duplicate-counts",
    },
    "a token counts as a list of fields": {
      in: "parseTargetedField",
      replace: 'typeof value === "string" ? readFieldScope(value) : "whole"',
      by: 'value === true ? "whole" : readFieldScope(String(value))',
      foundBy: "targeted-fields/field-names-in-strings",
    },
    "a restriction that is turned off restricts": {
      in: "parseTargetedField",
      replace: "known === undefined || value === false",
      by: "known === undefined",
      foundBy: "targeted-fields/field-names-in-strings",
    },
  },
  "W3C Edge Architecture 1.0 §2.2": {
    "clients see Surrogate-Control": {
      in: "compileChecked",
      replace: '[...ownField, "surrogate-control"]',
      by: "[...ownField]",
      foundBy: "targeted-fields/surrogate-control",
    },
    "Surrogate-Control outranks CDN-Cache-Control": {
      in: "USUAL_TARGETS",
      replace: '["cdn-cache-control", "surrogate-control"]',
      by: '["surrogate-control", "cdn-cache-control"]',
      foundBy: "targeted-fields/surrogate-control",
    },
    "no-store-remote does not apply to an edge": {
      in: "inCacheControl",
      drop: 'if (name === "no-store-remote") return ["no-store"];',
      foundBy: "targeted-fields/surrogate-control",
    },
    "directives for another surrogate apply to this cache": {
      in: "parseSurrogateControl",
      replace: "filter((member) => !FOR_ANOTHER.test(member))",
      by: 'map((member) => (FOR_ANOTHER.test(member) ? member.split(";")[0]! : member))',
      foundBy: "targeted-fields/surrogate-control-not-applicable",
    },
    "a Surrogate-Control with capabilities only outranks Cache-Control": {
      in: "parseSurrogateControl",
      replace: "return members.length === 0 ? undefined : parseCacheControl",
      by: "return parseCacheControl",
      foundBy: "targeted-fields/surrogate-control-not-applicable",
    },
  },
  "W3C Edge Architecture 1.0 §2.2.1": {
    "the stale seconds of max-age=10+5 count as fresh": {
      in: "inCacheControl",
      replace: "{freshSeconds}`, `stale",
      by: "{Number(freshSeconds) + Number(staleSeconds)}`, `stale",
      foundBy: "targeted-fields/surrogate-control-stale-seconds",
    },
    "a max-age with stale seconds leaves nothing fresh": {
      in: "inCacheControl",
      replace: "if (extended) {",
      by: "if (false) {",
      foundBy: "targeted-fields/surrogate-control-stale-seconds",
    },
  },
  "RFC 9111 §4.3.4": {
    "targeted fields that clients do not see are lost when a page is confirmed": {
      in: "freshenedFields",
      replace: "[...fields, ...hiddenFields]",
      by: "[...fields]",
      foundBy: "targeted-fields/hidden-field-after-304",
    },
  },
};
