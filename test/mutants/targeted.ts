import type { Mutants } from "./mutant.ts";

const TARGETED = "worker/rules/directives/targeted-fields.ts";
const SURROGATE = "worker/rules/directives/surrogate-control.ts";

const SPEAKS = "CDN-Cache-Control speaks to this cache, Cache-Control to those after it, and clients get both";
const FORBIDS = "what CDN-Cache-Control forbids is not stored, whatever Cache-Control allows";
const UNREADABLE = "a field for this cache that is empty or malformed is passed over, and Cache-Control speaks";
const WRONG_TYPE =
  "a field for this cache whose lifetime is of a wrong type, or missing, leaves nothing fresh: Cache-Control and Expires are silenced";
const OWN = "a field of the site's own outranks CDN-Cache-Control, and clients do not see it";
const OF_SURROGATES = "Surrogate-Control speaks before Cache-Control and after CDN-Cache-Control, and is not passed on";
const CAPABILITIES =
  "a Surrogate-Control that is for another surrogate, or names capabilities only, lets Cache-Control speak";
const EXTENDED =
  "Surrogate-Control: max-age=10+5 is fresh for ten seconds, and may be used for five more while it is fetched anew";
const SCOPES =
  'private="…" and no-cache="…" for this cache are lists of fields in a string, and without one they are about the whole page';
const UNSEEN = "what clients are not shown still counts when the origin confirms the page without saying it again";

/** Wrong readings of the fields that speak to this cache alone. */
export const targeted: Mutants = {
  "cdn-cache-control-is-not-read": {
    name: "CDN-Cache-Control is not read",
    file: TARGETED,
    from: '["cdn-cache-control", "surrogate-control"]',
    to: '["surrogate-control"]',
    reddens: SPEAKS,
  },
  "cdn-cache-control-is-hidden": {
    name: "clients do not get CDN-Cache-Control",
    file: "worker/site/site.ts",
    from: '[...ownField, "surrogate-control"]',
    to: '[...ownField, "surrogate-control", "cdn-cache-control"]',
    reddens: SPEAKS,
  },
  "targeted-no-store-is-stored": {
    name: "a restriction in a targeted field is not read",
    file: TARGETED,
    from: "said[known.key] = value === true || !PERMISSIONS.has(name);",
    to: "said[known.key] = false;",
    reddens: FORBIDS,
  },
  "empty-field-speaks": {
    name: "an empty targeted field silences Cache-Control",
    file: TARGETED,
    from: "dictionary === undefined || dictionary.size === 0",
    to: "dictionary === undefined",
    reddens: UNREADABLE,
  },
  "malformed-field-forbids": {
    name: "a malformed targeted field keeps the page out of the store",
    file: TARGETED,
    from: "return undefined; // The parser",
    to: 'return parseDictionary("no-store"); // The parser',
    reddens: UNREADABLE,
  },
  "expires-speaks-beside": {
    name: "Expires counts beside a targeted field",
    file: "worker/rules/freshness/freshness-lifetime.ts",
    from: 'source === "cache-control" ? response.field("expires") : null',
    to: 'response.field("expires")',
    reddens: WRONG_TYPE,
  },
  "cache-control-fills-in": {
    name: "Cache-Control counts where a targeted field gives no lifetime",
    file: TARGETED,
    from: "if (cacheControl !== undefined) return",
    to: 'if (cacheControl !== undefined && cacheControl.maxAge !== "absent") return',
    reddens: WRONG_TYPE,
  },
  "decimals-are-lifetimes": {
    name: "a decimal is a lifetime",
    file: TARGETED,
    from: " && !decimals.has(name)",
    to: "",
    reddens: WRONG_TYPE,
  },
  "strings-are-lifetimes": {
    name: "a string of digits is a lifetime",
    file: TARGETED,
    from: 'typeof value === "number" && value >= 0 && Number.isInteger(value) && !decimals.has(name);\n      said[known.key] = isSeconds ? Math.min(value,',
    to: 'typeof value !== "boolean" && Number(value) >= 0 && !decimals.has(name);\n      said[known.key] = isSeconds ? Math.min(Number(value),',
    reddens: WRONG_TYPE,
  },
  "negatives-are-lifetimes": {
    name: "a negative integer is a lifetime without its sign",
    file: TARGETED,
    from: "value >= 0 && Number.isInteger(value) && !decimals.has(name);\n      said[known.key] = isSeconds ? Math.min(value,",
    to: "Number.isInteger(value) && !decimals.has(name);\n      said[known.key] = isSeconds ? Math.min(Math.abs(value),",
    reddens: WRONG_TYPE,
  },
  "first-duplicate-counts": {
    name: "of duplicates in a targeted field the shortest counts",
    file: TARGETED,
    from: "return parseDictionary(text);",
    to: "return new Map([...parseDictionary(text)].map(([name, item]) => [name, name === 'max-age' ? parseDictionary(text.split(',')[0]!).get(name)! : item]));",
    reddens: "of duplicates in a field for this cache the last counts, as in every dictionary",
  },
  "own-field-comes-last": {
    name: "CDN-Cache-Control outranks the site's own field",
    file: TARGETED,
    from: "[targeted, USUAL_TARGETS]",
    to: "[USUAL_TARGETS, targeted]",
    reddens: OWN,
  },
  "own-field-is-shown": {
    name: "clients see the site's own field",
    file: "worker/site/site.ts",
    from: '[...ownField, "surrogate-control"]',
    to: '["surrogate-control"]',
    reddens: OWN,
  },
  "others-fields-speak": {
    name: "a field that speaks to another cache is read",
    file: "worker/site/site.ts",
    from: "targetedFields: ownField,",
    to: 'targetedFields: ["example-cache-control"],',
    reddens: "a field that speaks to another cache changes nothing here",
  },
  "surrogate-control-is-shown": {
    name: "clients see Surrogate-Control",
    file: "worker/site/site.ts",
    from: '[...ownField, "surrogate-control"]',
    to: "[...ownField]",
    reddens: OF_SURROGATES,
  },
  "surrogate-control-comes-first": {
    name: "Surrogate-Control outranks CDN-Cache-Control",
    file: TARGETED,
    from: '["cdn-cache-control", "surrogate-control"]',
    to: '["surrogate-control", "cdn-cache-control"]',
    reddens: OF_SURROGATES,
  },
  "no-store-remote-is-stored": {
    name: "an edge is not remote",
    file: SURROGATE,
    from: 'if (name === "no-store-remote") return ["no-store"];',
    to: "",
    reddens: OF_SURROGATES,
  },
  "extension-is-fresh": {
    name: "what may be used while it is fetched anew is fresh so long",
    file: SURROGATE,
    from: "{freshSeconds}`, `stale",
    to: "{Number(freshSeconds) + Number(staleSeconds)}`, `stale",
    reddens: EXTENDED,
  },
  "extension-is-not-read": {
    name: "an extension leaves nothing fresh",
    file: SURROGATE,
    from: "if (extended) {",
    to: "if (false) {",
    reddens: EXTENDED,
  },
  "another-surrogate-is-us": {
    name: "what is for another surrogate is for this cache",
    file: SURROGATE,
    from: 'FOR_ANOTHER.test(member) ? "" : member',
    to: 'FOR_ANOTHER.test(member) ? member.split(";")[0]! : member',
    reddens: CAPABILITIES,
  },
  "capabilities-silence": {
    name: "capabilities silence Cache-Control",
    file: SURROGATE,
    from: "return members.length === 0 ? undefined : parse",
    to: "return parse",
    reddens: CAPABILITIES,
  },
  "unseen-fields-are-forgotten": {
    name: "what clients are not shown is forgotten when a page is confirmed",
    file: "worker/flow/storing/freshening.ts",
    from: "[...fields, ...hiddenFields]",
    to: "[...fields]",
    reddens: UNSEEN,
  },
  "token-is-a-list": {
    name: "a token is taken for a list of fields",
    file: TARGETED,
    from: 'typeof value === "string" ? readFieldScope(value) : "whole"',
    to: 'value === true ? "whole" : readFieldScope(String(value))',
    reddens: SCOPES,
  },
  "off-is-on": {
    name: "a restriction that is turned off restricts",
    file: TARGETED,
    from: "known === undefined || value === false",
    to: "known === undefined",
    reddens: SCOPES,
  },
};
