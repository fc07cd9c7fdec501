import { readFileSync } from "node:fs";

/** A variable that the edge reads, with the comment of its declaration. */
export interface Variable {
  readonly name: string;
  readonly meaning: string;
}

/** The variables and secrets of `EdgeEnv`, in its order. */
export function variablesOfEdge(source = readFileSync("worker/create-edge.ts", "utf8")): readonly Variable[] {
  const [body] = /export interface EdgeEnv \{[\s\S]*?^\}/m.exec(source)!;
  return [...body.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*readonly (TIDEMARK_\w+)/g)].map(([, comment, name]) => ({
    name: name!,
    meaning: comment!
      .replace(/\n\s*\* ?/g, " ")
      .replace(/\s+/g, " ")
      .trim(),
  }));
}
