/**
 * The depth of the tests. `test` is for a person who waits: `npm test`. `gate` has every engine and starts servers, browsers
 * and databases: `npm run check`. `all` leaves nothing out: `npm run check -- --all`. `explore` only counts higher, by
 * default as high as `all`: `npm run explore`.
 */
const DEPTHS = ["test", "gate", "all", "explore"] as const;

export type Depth = (typeof DEPTHS)[number];

export const depth: Depth = depthNamed(process.env.TEST_DEPTH ?? "test");

/** The value for the depth of this run. */
export function byDepth<T>(values: Readonly<Record<Exclude<Depth, "explore">, T>> & { readonly explore?: T }): T {
  return { explore: values.all, ...values }[depth];
}

/** The rows of a table: the gate takes the first `count` of them, `npm run check -- --all` takes all. */
export function inGate<const Row>(count: number, rows: readonly Row[]): readonly Row[] {
  const first = rows.slice(0, count);
  return byDepth({ test: first, gate: first, all: rows });
}

function depthNamed(name: string): Depth {
  const found = DEPTHS.find((each) => each === name);
  if (found === undefined) throw new Error(`TEST_DEPTH is one of ${DEPTHS.join(", ")}, not ${name}`);
  return found;
}
