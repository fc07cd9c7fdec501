import type { Source } from "../../imported-site.ts";
import type { Expression } from "./path-patterns.ts";

/*
 * A map may have thousands of redirects. A path is held against each route before its own, so a route for each redirect
 * would make all misses slow.
 */

/** Fewer stay apart, because an owner reads them more easily. */
const FEW = 20;

/** The most characters of an expression, so that the search for slow expressions can still follow it. */
const MAX_CHARACTERS = 4_000;

/** An expression of one text, without anything that alternatives beside it could change. */
const ONE_TEXT = /^\^(?:\\[^A-Za-z0-9]|[^\\^$.|?*+()[\]{}])*\$$/;

interface Paths extends Expression {
  readonly from: readonly Source[];
}

/** The same paths in fewer expressions: those of single texts become alternatives, if one block has all their lines. */
export function joinedPaths(all: readonly Paths[]): readonly Paths[] {
  const alike = Map.groupBy(all, ({ regex, from, ...rest }) =>
    ONE_TEXT.test(regex) ? JSON.stringify([from.slice(0, -1), rest]) : null,
  );
  return [...alike].flatMap(([kind, group]) => (kind === null || group.length < FEW ? group : alternatives(group)));
}

function alternatives(group: readonly Paths[]): Paths[] {
  const chunks: Paths[][] = [];
  let room = 0;
  for (const each of group) {
    const size = encodeURI(each.regex).length;
    if (size > room) {
      chunks.push([]);
      room = MAX_CHARACTERS;
    }
    chunks.at(-1)!.push(each);
    room -= size;
  }
  return chunks.map((chunk) => {
    const [one] = chunk as [Paths];
    const [first, last] = [one.from.at(-1)!, chunk.at(-1)!.from.at(-1)!];
    const text = `${first.text} (${chunk.length} lines, to ${last.place}: ${last.text})`;
    const regex = chunk.map((each) => each.regex).join("|");
    return { ...one, regex, from: [...one.from.slice(0, -1), { ...first, text }] };
  });
}

/** A plain start and one expression to the end. Without loops, it cannot become slow by more alternatives. */
const JOINABLE = /^([^{}()*+?:\\]*)\((?:\\.|[^()*+{\\]|\(\?:(?:\\.|[^()*+{\\])*\))+\)$/s;

/** Patterns of the same paths: `/(a|b)` in place of `/(a)` and `/(b)`. */
export function joinedPatterns(patterns: readonly string[]): readonly string[] {
  const alike = Map.groupBy(patterns, (each) => JOINABLE.exec(each)?.[1] ?? null);
  return [...alike].flatMap(([start, group]) => {
    if (start === null || group.length < FEW) return group;
    return [`${start}(${group.map((each) => each.slice(start.length + 1, -1)).join("|")})`];
  });
}
