/**
 * The depth of the tests. `test` is for a person who waits: `npm test`. `gate` draws more at random: `npm run check`.
 * `all` also plays every scenario under up to 20 orders of events: `npm run check -- --all`.
 */
const DEPTHS = ["test", "gate", "all"] as const;

export type Depth = (typeof DEPTHS)[number];

export const depth: Depth = depthNamed(process.env.TEST_DEPTH ?? "test");

/** The value for the depth of this run. */
export function byDepth<T>(values: Readonly<Record<Depth, T>>): T {
  return values[depth];
}

function depthNamed(name: string): Depth {
  const found = DEPTHS.find((each) => each === name);
  if (found === undefined) throw new Error(`TEST_DEPTH is one of ${DEPTHS.join(", ")}, not ${name}`);
  return found;
}
