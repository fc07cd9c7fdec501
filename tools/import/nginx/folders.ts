import type { Difference } from "../imported-site.ts";
import { conditionsOn, type ServerFacts } from "./conditions/conditions-of.ts";
import { handlerOf } from "./handlers.ts";
import type { ImportedLocation } from "./import-location.ts";
import type { PassedPaths } from "./location/bypass.ts";
import type { Location } from "./locations.ts";

interface Folders {
  readonly passed: readonly PassedPaths[];
  readonly differences: readonly Difference[];
}

/**
 * The folders of a location whose index another location answers, if that location stores by other rules: `try_files
 * $uri $uri/` finds the folder, and nginx continues with `/blog/index.php` instead of `/blog/`.
 */
export function passedFolders(
  location: Location,
  own: ImportedLocation,
  facts: ServerFacts,
  importOther: (location: Location) => ImportedLocation | null,
): Folders {
  // A location that stores nothing passes its folders anyway.
  const indexes = own.rules.pass === true ? [] : location.indexes;
  const others = indexes.filter(({ location: other }) => {
    if (answersWithFile(other, facts)) return false;
    const imported = importOther(other);
    return imported === null || imported.because.length > 0 || storing(imported) !== storing(own);
  });
  return {
    passed: others.map(({ folders, line, through }) => {
      return { regex: folders, ignoreCase: false, from: [line.source, through.source] };
    }),
    differences: [...new Map(others.map((each) => [each.through, each])).values()].map(({ line, through }) => {
      const why = `nginx answers a folder with an index through ${through.source.text}, which stores by other rules than this location. Paths here that end with / are not stored.`;
      return { kind: "changed", source: line.source, why, aspects: ["stored"], affects: { routes: null } };
    }),
  };
}

/** The index is a file that all visitors get, like nginx's other files. */
function answersWithFile(location: Location, facts: ServerFacts): boolean {
  return (
    handlerOf(location).kind === "itself" && location.lostAt === null && conditionsOn(location, facts).length === 0
  );
}

/** The rules by which a location stores and answers, as a text for comparison. */
function storing({ rules, passed }: ImportedLocation): string {
  const paths = passed.map(({ regex, ignoreCase }) => `${regex} ${ignoreCase}`);
  return JSON.stringify([rules, paths], (_, value) => (value instanceof RegExp ? String(value) : value));
}
