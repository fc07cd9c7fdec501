/** Numbers under names, in levels. Two trees are added name by name. */
export interface CountTree {
  [name: string]: number | CountTree;
}

/** The most names on one level of a sum, and the name under which all further ones are counted. */
export const MAX_NAMES = 50;
export const OTHERS = "(others)";

/** Paths that match no route are counted under this name, which is not a pattern. */
export const NO_ROUTE = "(none)";

/** The levels whose names are bounded where they are made: the buckets of a sketch. */
const BOUNDED = "buckets";

/** Adds `more` to `sum`, in place. The sum loses its prototype: a name may be `__proto__`. */
export function addCounts(sum: CountTree, more: CountTree, maxNames = MAX_NAMES): CountTree {
  Object.setPrototypeOf(sum, null);
  for (const [given, value] of Object.entries(more)) {
    const name = nameIn(sum, given, maxNames);
    sum[name] = added(sum[name], value, name);
  }
  return sum;
}

/** The name under which something is counted on a level. The two names in parentheses take no place. */
function nameIn(level: CountTree, name: string, maxNames: number): string {
  if (maxNames === Infinity || name === NO_ROUTE || Object.hasOwn(level, name)) return name;
  return Object.keys(level).length - Number(OTHERS in level) - Number(NO_ROUTE in level) < maxNames ? name : OTHERS;
}

function added(sum: number | CountTree | undefined, value: number | CountTree, name: string): number | CountTree {
  if (typeof value === "number") return (typeof sum === "number" ? sum : 0) + value;
  return addCounts(typeof sum === "object" ? sum : emptyTree(), value, name === BOUNDED ? Infinity : MAX_NAMES);
}

/** Adds to the number under a path of names, in place. The tree is one without prototypes. */
export function addUnder(tree: CountTree, [given, ...rest]: readonly string[], by = 1): void {
  const name = nameIn(tree, given!, MAX_NAMES);
  if (rest.length === 0) tree[name] = ((tree[name] as number) ?? 0) + by;
  else {
    tree[name] ??= emptyTree();
    addUnder(tree[name] as CountTree, rest, by);
  }
}

/** What has been added since `before`. Names that have not changed are left out. */
export function countsSince(now: CountTree, before: CountTree): CountTree {
  const since = emptyTree();
  for (const [name, value] of Object.entries(now)) {
    const was = Object.hasOwn(before, name) ? before[name] : undefined;
    if (typeof value === "object") {
      const rest = countsSince(value, typeof was === "object" ? was : emptyTree());
      if (Object.keys(rest).length > 0) since[name] = rest;
    } else if (value !== (was ?? 0)) since[name] = value - ((was as number | undefined) ?? 0);
  }
  return since;
}

/** Without a prototype, for the same reason. */
export function emptyTree(): CountTree {
  return Object.create(null) as CountTree;
}

/** The sum over all routes. */
export function sumOfRoutes(routes: CountTree): CountTree {
  return Object.values(routes).reduce<CountTree>((sum, route) => addCounts(sum, route as CountTree), emptyTree());
}

/** The number at a path like `origin.asked`; 0 if nothing was counted there. */
export function numberAt(tree: CountTree, path: string): number {
  return Number(valueAt(tree, path) ?? 0);
}

export function treeAt(tree: CountTree, path: string): CountTree {
  return (valueAt(tree, path) ?? {}) as CountTree;
}

function valueAt(tree: CountTree, path: string): number | CountTree | undefined {
  return path.split(".").reduce<number | CountTree | undefined>((value, name) => (value as CountTree)?.[name], tree);
}
