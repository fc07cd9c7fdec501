import type { Source } from "../../imported-site.ts";
import type { Directive } from "../files/directives.ts";

/**
 * The `map` and `geo` blocks of a configuration, by the variable that they set. The last block for a variable counts.
 */
export type Maps = ReadonlyMap<string, MapBlock>;

export interface MapKey {
  /** A text, or an expression with its operator, like `~^/a`. */
  readonly key: string;
  readonly isExpression: boolean;
}

export interface MapEntry extends MapKey {
  readonly value: string;
  readonly source: Source;
}

export interface MapBlock {
  readonly source: Source;
  /** The text that is looked up, like `$http_cookie`. */
  readonly of: string;
  readonly fallback: string;
  readonly entries: readonly MapEntry[];
  /** True if keys are host names with wildcards. */
  readonly ofHosts: boolean;
}

export function mapsOf(directives: readonly Directive[]): Maps {
  const blocks = directives.flatMap((each) => {
    if (each.name === "map" && each.block !== null && each.args.length === 2) return [each];
    // geo is a map of the client's address, unless it names another variable.
    const isGeo = each.name === "geo" && each.block !== null && each.args.length > 0;
    return isGeo ? [{ ...each, args: ["$remote_addr", ...each.args].slice(-2) }] : [];
  });
  return new Map(
    blocks.map(({ name: kind, args, block, source }) => {
      // A parameter like hostnames has no value: with one, the word is a key.
      const isParameter = ({ name, args: values }: Directive) =>
        name === "default" || values.length === 0 || (kind === "geo" && /^(?:proxy|delete)$/.test(name));
      const entries = block!
        .filter((line) => !isParameter(line))
        .map((line) => {
          // Lines that were not found may have any key, and networks have many addresses.
          const isMissing = line.name === "include";
          const isAny = isMissing || kind === "geo";
          return {
            key: isAny ? "~^" : line.name.replace(/^\\/, ""),
            isExpression: isAny || line.name.startsWith("~"),
            value: isMissing ? "$include" : (line.args[0] ?? ""),
            source: line.source,
          };
        });
      const fallback = block!.find(({ name }) => name === "default")?.args[0] ?? "";
      const ofHosts = block!.some(({ name, args: values }) => name === "hostnames" && values.length === 0);
      return [variableIn(args[1]!) ?? args[1]!, { source, of: args[0]!, fallback, entries, ofHosts }];
    }),
  );
}

/** The variable's name, like `x` for `$X` and `${x}`; `null` for text that is not one variable. nginx ignores its case. */
export function variableIn(text: string): string | null {
  return writtenIn(text)?.toLowerCase() ?? null;
}

/** The same as the file spells it: in `$cookie_SESSID` it has the name of a cookie. */
export function writtenIn(text: string): string | null {
  return /^\$(?:(\w+)|\{(\w+)\})$/.exec(text)?.slice(1).find(Boolean) ?? null;
}

/** The variables that an expression sets by its named groups. */
export function capturedBy(expression: string): readonly string[] {
  return [...expression.matchAll(/\(\?(?:P?<(\w+)>|'(\w+)')/g)].map(([, name, quoted]) =>
    (name ?? quoted)!.toLowerCase(),
  );
}
