import { type DirectiveRow, rowOf } from "./directive-table.ts";
import type { Directive } from "./files/directives.ts";

/** The blocks that a location inherits from, its own first. */
export type Levels = readonly (readonly Directive[])[];

/** The directives of this name that apply: those of the innermost block that has any. */
export function inForce(levels: Levels, name: string): readonly Directive[] {
  for (const level of levels) {
    const found = namesIn(level).get(name);
    if (found !== undefined) return found;
  }
  return [];
}

const grouped = new WeakMap<readonly Directive[], ReadonlyMap<string, readonly Directive[]>>();

/** The directives of a block by their names. Each of a server's locations asks for them, and may be one of thousands. */
function namesIn(level: readonly Directive[]): ReadonlyMap<string, readonly Directive[]> {
  const known = grouped.get(level) ?? Map.groupBy(level, ({ name }) => name);
  grouped.set(level, known);
  return known;
}

/**
 * All directives that apply in a block, by nginx's inheritance. An unknown directive applies in all blocks within its
 * own.
 */
export function allInForce(levels: Levels): readonly Directive[] {
  const replaced = new Set<string>();
  return levels.flatMap((level, depth) => {
    const found = level.filter((each) => applies(rowOf(each), each.name, depth, replaced));
    for (const each of level) replaced.add(groupOf(rowOf(each), each.name));
    return found;
  });
}

function applies(row: DirectiveRow | null, name: string, depth: number, replaced: ReadonlySet<string>): boolean {
  if (row === null) return true;
  return row.inherits === "own" ? depth === 0 : !replaced.has(groupOf(row, name));
}

function groupOf(row: DirectiveRow | null, name: string): string {
  return row?.group ?? name;
}
