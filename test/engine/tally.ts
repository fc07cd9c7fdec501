/** How often each of several things has happened. */
export type Tally<Name extends string> = Record<Name, number>;

export function emptyTally<Name extends string>(names: readonly Name[]): Tally<Name> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Tally<Name>;
}

/** The names of things that have never happened. */
export function neverIn<Name extends string>(tally: Tally<Name>): Name[] {
  return (Object.keys(tally) as Name[]).filter((name) => tally[name] === 0);
}
