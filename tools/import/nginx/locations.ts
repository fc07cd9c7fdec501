import type { Directive } from "./files/directives.ts";
import type { Levels } from "./in-force.ts";
import { portableRegex } from "./paths/portable-regex.ts";

export type LocationKind = "exact" | "prefix" | "prefix-before-regex" | "regex" | "regex-ignoring-case";

/** A `location`, with the blocks that its requests go through. */
export interface Location {
  readonly kind: LocationKind;
  readonly text: string;
  readonly directive: Directive;
  /** The blocks that it inherits from, its own first. */
  readonly levels: Levels;
  /**
   * The blocks that answer, innermost first: its own, or those of the location that `try_files`, or a `rewrite` of every
   * path, leads to.
   */
  readonly answeredBy: Levels;
  /** The blocks of each location on that way, its own first. */
  readonly way: readonly Levels[];
  /** The path that requests have at the end of the way; `null` for the one that was asked for. */
  readonly redirectedTo: string | null;
  /** True if the query on that way becomes another. */
  readonly changesQuery: boolean;
  /** What keeps the end of the way from being known. */
  readonly lostAt: Directive | null;
  /** The location that it is nested in. */
  readonly parent: Location | null;
}

interface Place {
  readonly kind: LocationKind;
  readonly text: string;
  readonly directive: Directive;
  readonly levels: Levels;
  readonly inner: readonly Place[];
}

/** All locations of a server but the named ones, nested ones behind their parents. `levels` are the server's. */
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
    const location: Location = {
      kind,
      text,
      directive,
      levels: at.levels,
      ...wayFrom(at.levels, places, named),
      parent,
    };
    return [location, ...at.inner.flatMap((each) => wander(each, location))];
  };
  return places.flatMap((each) => wander(each, null));
}

function placesIn(levels: Levels): readonly Place[] {
  return levels[0]!.flatMap((directive): Place[] => {
    if (directive.name !== "location" || directive.block === null) return [];
    const [kind, text] = kindOf(directive.args);
    if (text.startsWith("@")) return [];
    const own = [directive.block, ...levels];
    return [{ kind, text, directive, levels: own, inner: placesIn(own) }];
  });
}

/** The most redirects that nginx makes for one request. */
const MAX_REDIRECTS = 10;

type Way = Pick<Location, "answeredBy" | "way" | "redirectedTo" | "changesQuery" | "lostAt">;

/** Follows `try_files` and rewrites of every path to the location that answers where there is no file. */
function wayFrom(start: Levels, places: readonly Place[], named: ReadonlyMap<string, Levels>): Way {
  const way = [start];
  let redirectedTo: string | null = null;
  let changesQuery = false;
  for (;;) {
    const here = way.at(-1)!;
    const next = nextTarget(here[0]!);
    const found = { answeredBy: here, way, redirectedTo, changesQuery };
    if (next === null) return { ...found, lostAt: null };
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
    // Behind a redirect to it, the file is there: otherwise nginx would go round in a circle.
    if (place.levels[0] === here[0]) return path === redirectedTo ? { ...found, lostAt: null } : lost;
    way.push(place.levels);
    redirectedTo = path!;
    changesQuery ||= !/^[^?]*(?:\?(?:\$args|\$query_string)?)?$/.test(target);
  }
}

/** Expressions that match every path. */
export const EVERY_PATH = /^\^?(?:\/?|\/?\.\*|\/?\(\.\*\))\$?$/;

/** Where requests of a block go on; `null` if they stay in it. */
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

function kindOf(args: readonly string[]): readonly [LocationKind, string] {
  const kinds = { "=": "exact", "^~": "prefix-before-regex", "~": "regex", "~*": "regex-ignoring-case" } as const;
  const [first = "", second] = args;
  if (second !== undefined) return [kinds[first as keyof typeof kinds] ?? "prefix", second];
  // nginx takes the modifier without a space, too: `location =/login`.
  const joined = /^(=|\^~|~\*|~)(?=[/^\\(])(.*)$/s.exec(first);
  return joined ? [kinds[joined[1] as keyof typeof kinds], joined[2]!] : ["prefix", first];
}

/** Whether the path is matched by an expression. */
export function isRegex({ kind }: Location): boolean {
  return isExpression({ kind });
}
