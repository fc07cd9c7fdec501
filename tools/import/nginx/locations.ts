import type { Directive } from "./files/directives.ts";
import { inForce, type Levels } from "./in-force.ts";
import { escapedForRegex, portableRegex } from "./paths/portable-regex.ts";
import { foldersBefore, mayReachInto } from "./paths/reaching.ts";

export type LocationKind = "exact" | "prefix" | "prefix-before-regex" | "regex" | "regex-ignoring-case";

/** A `location`, with the blocks that its requests go through. */
export interface Location {
  readonly kind: LocationKind;
  readonly text: string;
  readonly directive: Directive;
  /** The blocks that it inherits from, its own first. */
  readonly levels: Levels;
  /**
   * The blocks that answer, innermost first: its own, or those of the location to which `try_files`, or a `rewrite` of
   * every path, leads.
   */
  readonly answeredBy: Levels;
  /** The blocks of each location on that way, its own first. */
  readonly way: readonly Levels[];
  /** The path of requests at the end of the way; `null` for the requested path. */
  readonly newPath: NewPath | null;
  /** True if the query changes on that way. */
  readonly changesQuery: boolean;
  /** Why the end of the way is not known. */
  readonly lostAt: Directive | null;
  /** The location that it is nested in. */
  readonly parent: Location | null;
  /** Where requests continue for folders that nginx has with their index. */
  readonly indexes: readonly IndexWay[];
}

/** The path after an internal redirect: always the same one, or a folder's path followed by the name of its index. */
export type NewPath =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "index"; readonly name: string };

/** A location in which nginx looks for the index of a folder. */
export interface IndexWay {
  /** The folders that may be requested, as an expression over their paths. */
  readonly folders: string;
  /** The line of `try_files` that looks for folders. */
  readonly line: Directive;
  /** The requested location, reached through this one. */
  readonly location: Location;
  /** The block through which it leads. */
  readonly through: Directive;
}

interface Place {
  readonly kind: LocationKind;
  readonly text: string;
  readonly directive: Directive;
  readonly levels: Levels;
  readonly inner: readonly Place[];
}

/** All locations of a server except the named ones, nested ones after their parents. `levels` are the server's. */
export function locationsOf(levels: Levels): readonly Location[] {
  const places = placesIn(levels);
  const named = new Map(
    levels[0]!.flatMap((each) =>
      each.name === "location" && each.block !== null && each.args[0]?.startsWith("@")
        ? [[each.args[0], [each.block, ...levels]] as const]
        : [],
    ),
  );
  const wander = (at: Place, parent: Location | null): Location[] => {
    const { kind, text, directive } = at;
    const way = wayFrom({ start: [at.levels], newPath: null }, places, named);
    const direct = { kind, text, directive, levels: at.levels, ...way, parent, indexes: [] };
    const location = { ...direct, indexes: indexWays(direct, places, named) };
    return [location, ...at.inner.flatMap((each) => wander(each, location))];
  };
  return places.flatMap((each) => wander(each, null));
}

function placesIn(levels: Levels): readonly Place[] {
  return levels[0]!.flatMap((directive): Place[] => {
    if (directive.name !== "location" || directive.block === null) return [];
    const [kind, text] = kindOf(directive.args);
    if (text.startsWith("@") || matchesNoPath(directive)) return [];
    const own = [directive.block, ...levels];
    return [{ kind, text, directive, levels: own, inner: placesIn(own) }];
  });
}

/** The most redirects that nginx makes for one request. */
const MAX_REDIRECTS = 10;

type Way = Pick<Location, "answeredBy" | "way" | "newPath" | "changesQuery" | "lostAt">;
type Named = ReadonlyMap<string, Levels>;

/** Follows `try_files` and rewrites of every path to the location that answers if there is no file. */
function wayFrom(
  { start, newPath: first }: { readonly start: readonly Levels[]; readonly newPath: NewPath | null },
  places: readonly Place[],
  named: Named,
): Way {
  const way = [...start];
  let newPath = first;
  let changesQuery = false;
  for (;;) {
    const here = way.at(-1)!;
    const next = nextTarget(here[0]!);
    const found = { answeredBy: here, way, newPath, changesQuery };
    // The index exists, or nginx would not have come here.
    if (next === null || (newPath?.kind === "index" && next.directive.args.slice(0, -1).includes("$uri")))
      return { ...found, lostAt: null };
    const lost = { ...found, lostAt: next.directive };
    if (way.length > MAX_REDIRECTS) return lost;
    if (next.target.startsWith("@")) {
      const levels = named.get(next.target);
      if (levels === undefined) return lost;
      way.push(levels);
      continue;
    }
    const target = next.target.replace("$is_args", "?");
    const path = /^\/[^?$]*(?=$|\?)/.exec(target)?.[0];
    const place = path === undefined ? null : placeOf(path, places);
    if (place === null) return lost;
    // After a redirect to it, the file exists; otherwise nginx would loop.
    const isHere = place.levels[0] === here[0];
    if (isHere && newPath !== null)
      return newPath.kind === "path" && newPath.path === path ? { ...found, lostAt: null } : lost;
    newPath = { kind: "path", path: path! };
    changesQuery ||= !/^[^?]*(?:\?(?:\$args|\$query_string)?)?$/.test(target);
    // A file of the location itself has the same rules as the file that replaces missing ones.
    if (isHere) return { answeredBy: here, way, newPath, changesQuery, lostAt: null };
    way.push(place.levels);
  }
}

/** The default name of a folder's index: nginx.org/en/docs/http/ngx_http_index_module.html. */
const DEFAULT_INDEX = ["index.html"];

/** The names of the index in a block; `null` if one is not a plain name. */
export function indexNames(levels: Levels): readonly string[] | null {
  const names = inForce(levels, "index").flatMap(({ args }) => args);
  if (names.some((name) => /[$/]/.test(name))) return null;
  return names.length === 0 ? DEFAULT_INDEX : names;
}

/** The line because of which nginx itself answers for a folder; `null` if there is none. */
export function folderLine(block: readonly Directive[]): Directive | null {
  // A location with its own handler uses that for folders, too.
  if (block.some(({ name }) => name.endsWith("_pass"))) return null;
  const line = block.find(({ name }) => name === "try_files");
  return line?.args.slice(0, -1).some((each) => each.endsWith("/")) ? line : null;
}

/** The locations that may answer for a folder's index when `try_files $uri/` has found the folder. */
function indexWays(location: Location, places: readonly Place[], named: Named): readonly IndexWay[] {
  return location.way.flatMap((levels, step) => {
    const line = folderLine(levels[0]!);
    if (line === null) return [];
    return (indexNames(levels) ?? []).flatMap((name) =>
      near(places, location, name).flatMap((place): IndexWay[] => {
        const isItself = place.levels[0] === levels[0];
        const folders = isItself ? null : foldersOf(place, location, name);
        if (folders === null) return [];
        const start = [...location.way.slice(0, step + 1), place.levels];
        const way = wayFrom({ start, newPath: { kind: "index", name } }, places, named);
        return [{ folders, line, location: { ...location, ...way }, through: place.directive }];
      }),
    );
  });
}

/** The folders in a location whose index another location may answer; `null` for none. */
function foldersOf(place: Place, location: Location, name: string): string | null {
  const ignoreCase = place.kind === "regex-ignoring-case";
  if (!keepsIndexes(location)) return "/$";
  if (isExpression(place))
    return mayReachInto(name, place.text, { ignoreCase }) ? foldersBefore(place.text, { ignoreCase }) : null;
  return endsWithin(place, name) ? `^${escapedForRegex(/^.*\//s.exec(place.text)?.[0] ?? "")}$` : null;
}

/** Whether a prefix or a path ends within the name of a folder's index. */
function endsWithin({ kind, text }: Place, name: string): boolean {
  const rest = text.replace(/^.*\//s, "");
  return rest !== "" && (kind === "exact" ? rest === name : name.startsWith(rest));
}

/** Whether the index of each folder in a location would also be in it, if there were no other location. */
function keepsIndexes({ kind, text }: Location): boolean {
  if (!isExpression({ kind })) return kind !== "exact";
  // An expression that ends with the folder does not match its index.
  return !/\$|\\[zZbB]|\(\?/.test(text);
}

/**
 * The locations that may have the index of a folder in a location. A location within another prefix also has the
 * folder.
 */
function near(places: readonly Place[], location: Location, name: string): readonly Place[] {
  const last = places.findIndex((each) => hasEveryIndex(each, name));
  return places.flatMap((each, at) => {
    // nginx tries the expressions in their order.
    if (last !== -1 && at > last && isExpression(each)) return [];
    const isEntered =
      isExpression(each) ||
      !keepsIndexes(location) ||
      location.levels.includes(each.levels[0]!) ||
      endsWithin(each, name);
    return isEntered ? [each, ...near(each.inner, location, name)] : [each];
  });
}

/** Whether an expression matches the index of every folder: it finds a match in its name, whatever is before that. */
function hasEveryIndex({ kind, text }: Place, name: string): boolean {
  if (!isExpression({ kind }) || /\^(?<!\[\^)|\(\?<?[=!]|\\[bBAGKzZ]/.test(text)) return false;
  return portableRegex(text, { ignoreCase: kind === "regex-ignoring-case" })?.test(`/${name}`) ?? false;
}

/** Expressions that match every path. */
export const EVERY_PATH = /^\^?(?:\/?|\/?\.\*|\/?\(\.\*\))\$?$/;

/** Where requests of a block continue; `null` if they stay in it. */
export function nextTarget(
  block: readonly Directive[],
): { readonly target: string; readonly directive: Directive } | null {
  const first = block.find(({ name }) => ["rewrite", "return", "break"].includes(name));
  if (first?.name === "rewrite") {
    const [regex = "", target = "", flag = "last"] = first.args;
    const isInternal = flag === "last" && target.startsWith("/");
    if (isInternal && EVERY_PATH.test(regex)) return { target, directive: first };
  }
  const directive = block.find(({ name }) => name === "try_files");
  const target = directive?.args.at(-1);
  return directive === undefined || target === undefined || target.startsWith("=") ? null : { target, directive };
}

/** The location that nginx chooses for a path; `null` for none, or if only PCRE could tell. */
function placeOf(path: string, places: readonly Place[]): Place | null {
  const found = searched(path, places);
  return found === "unknown" ? null : found;
}

/** https://nginx.org/en/docs/http/ngx_http_core_module.html#location, as `ngx_http_core_find_location` does it. */
function searched(path: string, places: readonly Place[]): Place | null | "unknown" {
  const exact = places.find(({ kind, text }) => kind === "exact" && text === path);
  if (exact) return exact;
  const prefix = places
    .filter(({ kind, text }) => kind.startsWith("prefix") && path.startsWith(text))
    .toSorted((a, b) => b.text.length - a.text.length)[0];
  const inner = prefix === undefined ? null : searched(path, prefix.inner);
  if (inner !== null) return inner;
  if (prefix?.kind !== "prefix-before-regex") {
    for (const place of places.filter(isExpression)) {
      const regex = portableRegex(place.text, { ignoreCase: place.kind === "regex-ignoring-case" });
      if (regex === null) return "unknown";
      if (regex.test(path)) return searched(path, place.inner) ?? place;
    }
  }
  return prefix ?? null;
}

function isExpression({ kind }: { readonly kind: LocationKind }): boolean {
  return kind.startsWith("regex");
}

/** Whether a location has a text with which no path begins. nginx accepts it. */
export function matchesNoPath({ args }: Directive): boolean {
  const [kind, text] = kindOf(args);
  return !isExpression({ kind }) && /^[^/@]/.test(text);
}

function kindOf(args: readonly string[]): readonly [LocationKind, string] {
  const kinds = { "=": "exact", "^~": "prefix-before-regex", "~": "regex", "~*": "regex-ignoring-case" } as const;
  const [first = "", second] = args;
  if (second !== undefined) return [kinds[first as keyof typeof kinds] ?? "prefix", second];
  // nginx also accepts the modifier without a space: `location =/login`.
  const joined = /^(=|\^~|~\*|~)(.*)$/s.exec(first);
  return joined ? [kinds[joined[1] as keyof typeof kinds], joined[2]!] : ["prefix", first];
}

/** Whether an expression matches the path. */
export function isRegex({ kind }: Location): boolean {
  return isExpression({ kind });
}
