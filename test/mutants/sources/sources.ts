import leven from "leven";
import type { Change } from "../mutant.ts";
import { type Declaration, type Parsed, parse } from "./declarations.ts";
import { type Place, placesOf, tokensOf } from "./tokens.ts";

/** A declaration, and the file that has it. */
interface Found {
  readonly path: string;
  readonly declaration: Declaration;
}

/** The sources that mutants change, by their paths. */
export class Sources {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #parsed = new Map<string, Parsed>();
  /** By word, the files that have it. */
  readonly #having: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
    this.#having = pathsByWord(texts);
  }

  /** The file that a change is about, with the wrong piece in it. Throws if it is not clear which piece is meant. */
  mutate(change: Change): { readonly path: string; readonly text: string } {
    const { path, declaration } = this.#find(change.in);
    const text = this.#textOf(path);
    const { start, end, by } =
      "wrap" in change ? wrapped(text, declaration, change.wrap) : this.#replacement(change, path, declaration);
    return { path, text: text.slice(0, start) + by + text.slice(end) };
  }

  #find(address: string): Found {
    const [name = "", stem] = address.split(":").reverse();
    const named = this.#declarations(name).filter(({ declaration }) => declaration.name === name);
    const meant = stem === undefined ? named : named.filter(({ path }) => `/${path}`.endsWith(`/${stem}.ts`));
    if (meant.length > 1) {
      const clear = meant.map(({ path }) => `${distinctStem(path, named)}:${name}`);
      throw new Error(`${address} is declared ${meant.length} times. Write one of these: ${clear.join(", ")}`);
    }
    if (!meant[0]) throw new Error(`nothing is declared as ${address}. The nearest names are ${this.#nearest(name)}`);
    return meant[0];
  }

  #replacement(change: Exclude<Change, { wrap: string }>, path: string, declaration: Declaration) {
    const isDropped = "drop" in change;
    const piece = isDropped ? change.drop : change.replace;
    const places = this.#placesOf(piece, { path, declaration });
    const meant = isDropped
      ? this.#parse(path).statements.filter(({ start }) => places.some((place) => place.start === start))
      : places;
    const what = isDropped ? "statement that begins with" : "piece";
    if (meant.length > 1) {
      const lines = meant.map(({ start }) => this.#textOf(path).slice(0, start).split("\n").length);
      throw new Error(
        `${change.in} has the ${what} "${piece}" ${meant.length} times: ${path}, lines ${lines.join(", ")}`,
      );
    }
    if (!meant[0]) {
      const others = innermost(this.#declarations().filter((found) => this.#placesOf(piece, found).length > 0));
      const hint = others.length > 0 ? `It stands in ${others.map(inWords).join(", ")}` : "No declaration has it";
      throw new Error(`${change.in} (${path}) does not have the ${what} "${piece}". ${hint}`);
    }
    return { ...meant[0], by: isDropped ? ";" : change.by };
  }

  /** Where a piece stands within a declaration, by the tokens of both. */
  #placesOf(piece: string, { path, declaration: { start, end } }: Found): Place[] {
    const tokens = tokensOf(this.#parse(path).code.slice(start, end));
    return placesOf(tokensOf(piece), tokens).map((place) => ({ start: start + place.start, end: start + place.end }));
  }

  /** The declarations of files that have all words of a name. */
  #declarations(name = ""): Found[] {
    const words = wordsOf(name).filter((word) => word !== "constructor");
    const paths = [...this.#texts.keys()].filter((path) => words.every((word) => this.#having.get(word)?.has(path)));
    return paths.flatMap((path) => this.#parse(path).declarations.map((declaration) => ({ path, declaration })));
  }

  #nearest(name: string): string {
    const distance = ({ declaration }: Found) => leven(name, declaration.name);
    const sorted = this.#declarations().sort((one, other) => distance(one) - distance(other));
    return sorted.slice(0, 3).map(inWords).join(", ");
  }

  #textOf(path: string): string {
    return this.#texts.get(path)!;
  }

  #parse(path: string): Parsed {
    const known = this.#parsed.get(path) ?? parse(path, this.#textOf(path));
    this.#parsed.set(path, known);
    return known;
  }
}

function pathsByWord(texts: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const paths = new Map<string, Set<string>>();
  for (const [path, text] of texts) {
    for (const word of new Set(wordsOf(text))) paths.set(word, (paths.get(word) ?? new Set()).add(path));
  }
  return paths;
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\w$]+/g) ?? [];
}

/** Puts a function around another, which it knows as `original`. */
function wrapped(text: string, { name, called }: Declaration, by: string): Place & { readonly by: string } {
  if (!called) throw new Error(`${name} is no function, so nothing can be wrapped around it`);
  const [head, body] = [called.head, called.body].map(({ start, end }) => text.slice(start, end));
  const original = `${called.isAsync ? "async " : ""}${head}=> ${body}`;
  const { start, end } = { start: called.head.start, end: called.body.end };
  return { start, end, by: `(...given: any[]): any { const original = ${original}; return (${by})(...given); }` };
}

/** As much of the end of a path as no other has. */
function distinctStem(path: string, among: readonly Found[]): string {
  const segments = path.replace(/\.ts$/, "").split("/");
  const stems = segments.map((_, index) => segments.slice(index).join("/")).reverse();
  const isDistinct = (stem: string) => among.filter((each) => `/${each.path}`.endsWith(`/${stem}.ts`)).length === 1;
  return stems.find(isDistinct) ?? path;
}

/** Those within which no other stands: of a class and its method, the method. */
function innermost(all: readonly Found[]): readonly Found[] {
  const isWithin = (one: Found, { path, declaration: { start, end } }: Found) =>
    one.path === path && one.declaration.start > start && one.declaration.end < end;
  return all.filter((found) => !all.some((other) => isWithin(other, found)));
}

function inWords({ path, declaration: { name } }: Found): string {
  return `${name} (${path})`;
}
