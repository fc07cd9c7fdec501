import type { Directive } from "./directives.ts";
import { literalPattern, prefixPattern, regexPatterns } from "./path-patterns.ts";

/** A `location` with the blocks that it inherits from, its own first. */
export interface Location {
  readonly kind: "exact" | "prefix" | "prefix-before-regex" | "regex" | "regex-ignoring-case";
  readonly text: string;
  readonly directive: Directive;
  /** The block whose rules hold: its own, or the one that its `try_files` ends at. */
  readonly handledBy: Directive;
  readonly levels: readonly (readonly Directive[])[];
  /** The location that it is nested in. */
  readonly parent: Location | null;
}

/** The paths that nginx serves from a location, where no earlier match has them. */
export interface OrderedMatch {
  readonly location: Location;
  readonly patterns: readonly string[];
  /** What of the expression no pattern can say. The patterns then match more than the expression. */
  readonly unsupported: string | null;
}

/** All locations of a server but the named ones, nested ones behind their parents. */
export function locationsOf(
  levels: readonly (readonly Directive[])[],
  parent: Location | null = null,
): readonly Location[] {
  return levels[0]!.flatMap((directive): Location[] => {
    if (directive.name !== "location" || directive.block === null) return [];
    const [kind, text] = kindOf(directive.args);
    if (text.startsWith("@")) return [];
    const handledBy = fallbackOf(directive, levels.at(-2)!) ?? directive;
    const around = handledBy === directive ? levels : levels.slice(-2);
    const location: Location = { kind, text, directive, handledBy, levels: [handledBy.block!, ...around], parent };
    return [location, ...(handledBy === directive ? locationsOf(location.levels, location) : [])];
  });
}

/** The location of the server that answers where `try_files` finds no file; `null` for none that can be told. */
function fallbackOf({ block }: Directive, server: readonly Directive[]): Directive | null {
  const last = block!.find(({ name }) => name === "try_files")?.args.at(-1);
  if (last === undefined || block!.some(({ name }) => name.endsWith("_pass"))) return null;
  const others = server.filter(({ name, block: own }) => name === "location" && own !== null && own !== block);
  if (last.startsWith("@")) return others.find(({ args }) => args[0] === last) ?? null;
  const path = /^\/[^?$]*/.exec(last)?.[0];
  if (path === undefined) return null;
  return (
    others.find(({ args }) => {
      const [kind, text] = kindOf(args);
      if (kind === "exact") return text === path;
      return kind.startsWith("regex") && !/[()]/.test(text) && new RegExp(text.replace(/^\(\?i\)/, "")).test(path);
    }) ?? null
  );
}

function kindOf(args: readonly string[]): readonly [Location["kind"], string] {
  const kinds = { "=": "exact", "^~": "prefix-before-regex", "~": "regex", "~*": "regex-ignoring-case" } as const;
  const [first = "", second] = args;
  if (second !== undefined) return [kinds[first as keyof typeof kinds] ?? "prefix", second];
  // nginx takes the modifier without a space, too: `location =/login`.
  const joined = /^(=|\^~|~\*|~)(?=[/^\\(])(.*)$/s.exec(first);
  return joined ? [kinds[joined[1] as keyof typeof kinds], joined[2]!] : ["prefix", first];
}

/**
 * The locations as a list in which the first match wins, as routes are. nginx takes an exact match, then looks for the
 * longest prefix, then asks the expressions in their order unless that prefix forbids it, and only then takes the
 * prefix: nginx.org/en/docs/http/ngx_http_core_module.html#location.
 */
export function inMatchOrder(locations: readonly Location[]): readonly OrderedMatch[] {
  const usable = locations.filter(({ parent }) => parent === null || !isRegex(parent));
  const exact = usable.filter(({ kind }) => kind === "exact");
  const prefixes = usable
    .filter(({ kind }) => kind === "prefix" || kind === "prefix-before-regex")
    .toSorted((a, b) => b.text.length - a.text.length);
  const expressions = usable.filter(isRegex);
  const ofServer = expressions.filter(({ parent }) => parent === null);
  const nestedIn = (prefix: Location) => expressions.filter(({ parent }) => parent === prefix);
  const ancestors = (each: Location): Location[] => (each.parent ? [each.parent, ...ancestors(each.parent)] : []);
  const nestedFor = (prefix: Location) => [prefix, ...ancestors(prefix)].flatMap(nestedIn);

  const hasOwnOrder = new Set<Location>();
  for (const prefix of prefixes.toReversed()) {
    const isInOne = [...hasOwnOrder].some(({ text }) => prefix.text.startsWith(text));
    const isSpecial = prefix.kind === "prefix-before-regex" || nestedFor(prefix).length > 0;
    if (isInOne || isSpecial) hasOwnOrder.add(prefix);
  }
  const early = prefixes
    .filter((prefix) => hasOwnOrder.has(prefix))
    .flatMap((prefix) => {
      const asked = prefix.kind === "prefix-before-regex" ? nestedFor(prefix) : [...nestedFor(prefix), ...ofServer];
      return [...asked.map((each) => matchOf(each, prefix.text)), matchOf(prefix, null)];
    });
  const late = prefixes.filter((prefix) => !hasOwnOrder.has(prefix)).map((prefix) => matchOf(prefix, null));
  return [
    ...exact.map((each) => matchOf(each, null)),
    ...early,
    ...ofServer.map((each) => matchOf(each, null)),
    ...late,
  ];
}

/** Whether the path is matched by an expression. */
export function isRegex({ kind }: Location): boolean {
  return kind === "regex" || kind === "regex-ignoring-case";
}

function matchOf(location: Location, prefix: string | null): OrderedMatch {
  const { kind, text } = location;
  if (kind === "exact") return { location, patterns: [literalPattern(text)], unsupported: null };
  if (!isRegex(location)) return { location, patterns: [prefixPattern(text)], unsupported: null };
  const found = regexPatterns(text, { ignoreCase: kind === "regex-ignoring-case", prefix });
  if (found.kind === "patterns") return { location, patterns: found.patterns, unsupported: null };
  const sure = kind === "regex" ? /^\^(\/[\w/-]*)(?![\w/-]*[*?{|+])/.exec(text)?.[1] : undefined;
  return { location, patterns: [prefixPattern(sure ?? prefix ?? "/")], unsupported: found.construct };
}
