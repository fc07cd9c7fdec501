import { MAX_KEY_CHARACTERS } from "../rules/key/expiring-keys.ts";
import { sortedByName } from "../rules/key/query.ts";
import { speaksOfCredentials } from "../rules/request/credential-names.ts";
import { isOpenToOwners } from "../rules/request/request-fields.ts";
import type { VariantFields } from "../rules/variants/vary.ts";

/** A parameter without a value, or with an odd name, may be about one visitor, and one that speaks of credentials is. */
const NAME = /^[\w.[\]-]{1,40}(?==)/;

const NO_CHANGES: ReadonlyMap<string, string> = new Map();

/** Of one URL, the most names of parameters that are changed, and the most fields. */
const MAX_NAMES = 6;

/**
 * The changes of a cache key that an owner can set, by their names, with the key that each would give: without one
 * parameter, without those whose names begin alike, without the query, with values in lower case, with sorted parameters,
 * and without one of the fields that select variants. Not without the route's `selectingNames`, which the owner wants, nor
 * without `Origin`: an answer without it may not be read by pages of other origins. None of a long URL, for which that would
 * take longer than its fetch.
 */
export function keyChanges(
  url: string,
  variant: VariantFields,
  selectingNames: readonly string[],
): ReadonlyMap<string, string> {
  const queryAt = url.indexOf("?");
  if ((queryAt < 0 && variant.length === 0) || url.length > MAX_KEY_CHARACTERS) return NO_CHANGES;
  const changes = new Map<string, string>();
  const [path, search] = queryAt < 0 ? [url] : [url.slice(0, queryAt), url.slice(queryAt + 1)];
  const parameters = search?.split("&") ?? [];
  const names = parameters.map(nameOf);
  const fields = variant.length === 0 ? "[]" : JSON.stringify(variant);
  const add = (change: string, changed: readonly string[], rest = fields) =>
    changes.set(change, `${path}?${changed.join("&")} ${rest}`);
  const without = (isIt: (name: string) => boolean) =>
    parameters.filter((_, at) => names[at] === undefined || !isIt(names[at]));
  const known = new Set(names.filter((name) => name !== undefined));
  for (const each of [...known].slice(0, MAX_NAMES)) {
    add(
      `drop ${each}`,
      without((name) => name === each),
    );
    const lower = parameters.map((text, at) => (names[at] === each ? text.toLowerCase() : text));
    add(`lowercase ${each}`, lower);
    const stem = each.slice(0, each.indexOf("_") + 1);
    if (stem !== "" && stem !== each)
      add(
        `drop ${stem}*`,
        without((name) => name.startsWith(stem)),
      );
  }
  if (parameters.length > 1) add("sort", sortedByName(parameters));
  if (parameters.length > 0 && !names.includes(undefined)) add("drop *", []);
  const droppable = ([name]: VariantFields[number]) =>
    name !== "origin" && isOpenToOwners(name) && !selectingNames.includes(name);
  for (const [each] of variant.filter(droppable).slice(0, MAX_NAMES)) {
    add(`vary ${each}`, parameters, JSON.stringify(variant.filter(([name]) => name !== each)));
  }
  return changes;
}

function nameOf(parameter: string): string | undefined {
  const [name] = NAME.exec(parameter) ?? [];
  return name === undefined || speaksOfCredentials(name.toLowerCase()) ? undefined : name;
}
