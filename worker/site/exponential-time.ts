/**
 * Whether a regular expression may take exponential time. It backtracks through all ways to match a text, and there are
 * exponentially many if a loop can read one text in two ways and come back to where it was: `(a+)+`, `(a|a)*`, `(a?b?)*`.
 *
 * The expression is read as an automaton whose states are the characters in it (Glushkov), and two of its runs are
 * followed side by side on the same text: "On the Degree of Ambiguity of Finite Automata" (Weber and Seidl, 1991) calls
 * what is looked for here EDA. What comes after the loop is left out of account, so that it is assumed to fail.
 */

type Node =
  /** A character of a set, as bits over `ALPHABET`. */
  | { readonly kind: "set"; readonly set: bigint }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | { readonly kind: "repeat"; readonly body: Node; readonly min: number; readonly max: number };

/** In how many ways something can be reached: 2 stands for more than one. */
type Ways = Map<number, number>;

/** A part of an automaton, by its states. */
interface Part {
  readonly first: Ways;
  readonly last: Ways;
  /** In how many ways it matches the empty text. */
  readonly empty: number;
}

/** The characters that requests consist of, and one of each other kind. */
const ALPHABET = `${String.fromCharCode(...Array(256).keys())}ĀЖ中\u017f\u212a\u2028`;
const ANY = (1n << BigInt(ALPHABET.length)) - 1n;

/** So many repetitions count like any number, if what they repeat can be read in two ways. */
const MANY = 4;

/** Longer repetitions count like any number. */
const MOST_COPIES = 200;

/** An expression with more states, or with more pairs of them to follow, counts as slow. */
const MOST_STATES = 5_000;
const MOST_STEPS = 3_000_000;

/** True also for an expression that is too large to tell. `flags` without `v`: sets within sets are not read. */
export function mayTakeExponentialTime(source: string, flags = ""): boolean {
  if (!/[*+{]/.test(source)) return false;
  return new Parser(source, flags).expressions().some((each) => new Automaton().hasManyWays(each));
}

class Parser {
  readonly #source: string;
  readonly #flags: string;
  readonly #sets = new Map<string, bigint>();
  /** What is matched by itself: lookarounds, and the bodies of repetitions. */
  readonly #apart: Node[] = [];
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[gy]/g, "");
  }

  /** The whole, and what is matched by itself. */
  expressions(): readonly Node[] {
    const whole = this.#choice();
    return [whole, ...this.#apart];
  }

  #choice(): Node {
    const options = [this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      options.push(this.#sequence());
    }
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!)) {
      parts.push(this.#quantified(this.#term()));
    }
    return { kind: "sequence", parts };
  }

  #quantified(body: Node): Node {
    const [quantifier, from, comma, to] = this.#next(/(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y) ?? [];
    if (quantifier === undefined) return body;
    const min = from === undefined ? (quantifier.startsWith("+") ? 1 : 0) : Number(from);
    const most = from === undefined ? (quantifier.startsWith("?") ? 1 : Infinity) : Number(to || Infinity);
    const max = from !== undefined && comma === undefined ? min : most;
    if (max !== Infinity && max * mostCopies(body) >= MANY && body.kind !== "set")
      this.#apart.push({ kind: "repeat", body, min: 0, max: Infinity });
    return { kind: "repeat", body, min, max };
  }

  #term(): Node {
    if (this.#next(/\^|\$|\\[bB]/y)) return EMPTY;
    const group = this.#next(/\((?:\?(?:<[=!]|[=!]|<[^>]*>|[a-z-]*:))?/y)?.[0];
    if (group !== undefined) {
      const inner = this.#choice();
      this.#at++; // the bracket that closes it
      if (!/^\(\?<?[=!]/.test(group)) return inner;
      this.#apart.push(inner);
      return EMPTY;
    }
    // A text that was matched before, of any length.
    if (this.#next(/\\[1-9]\d*|\\k<[^>]*>/y)) return { kind: "repeat", body: ANYTHING, min: 0, max: Infinity };
    const one = this.#next(/\[(?:\\.|[^\]\\])*\]|\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|p\{[^}]*\}|.)|./isy);
    return { kind: "set", set: this.#setOf(one?.[0] ?? "") };
  }

  #next(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at += found[0].length;
    return found;
  }

  #setOf(source: string): bigint {
    const known = this.#sets.get(source);
    if (known !== undefined) return known;
    let set = 0n;
    try {
      for (const { index } of ALPHABET.matchAll(new RegExp(source, `${this.#flags}g`))) set |= 1n << BigInt(index);
    } catch {
      // Half of a character, for example.
    }
    set ||= ANY; // Characters that are not in the alphabet.
    this.#sets.set(source, set);
    return set;
  }
}

/** How often a character may stand in an expression whose limited repetitions are written out. */
function mostCopies(node: Node): number {
  switch (node.kind) {
    case "set":
      return 1;
    case "sequence":
      return Math.max(1, ...node.parts.map(mostCopies));
    case "choice":
      return Math.max(1, ...node.options.map(mostCopies));
    case "repeat":
      if (node.max === Infinity || node.body.kind === "set") return mostCopies(node.body);
      return mostCopies(node.body) * Math.max(1, node.max);
  }
}

const EMPTY: Node = { kind: "sequence", parts: [] };
const ANYTHING: Node = { kind: "set", set: ANY };

class Automaton {
  /** Which characters lead to a state. */
  readonly #sets: bigint[] = [];
  /** The states after each state. */
  readonly #next: Ways[] = [];

  hasManyWays(expression: Node): boolean {
    this.#add(expression);
    if (this.#sets.length > MOST_STATES) return true;
    return this.#loops().some((loop) => this.#canPart(loop));
  }

  #add(node: Node): Part {
    switch (node.kind) {
      case "set": {
        const state = this.#sets.push(node.set) - 1;
        this.#next.push(new Map());
        return { first: new Map([[state, 1]]), last: new Map([[state, 1]]), empty: 0 };
      }
      case "sequence":
        return node.parts.reduce<Part>((before, each) => this.#joined(before, this.#add(each)), NOTHING);
      case "choice": {
        const parts = node.options.map((each) => this.#add(each));
        return {
          first: sum(parts.map(({ first }) => [first, 1])),
          last: sum(parts.map(({ last }) => [last, 1])),
          empty: Math.min(
            2,
            parts.reduce((all, { empty }) => all + empty, 0),
          ),
        };
      }
      case "repeat":
        return this.#repeated(node);
    }
  }

  #repeated({ body, min, max }: Node & { readonly kind: "repeat" }): Part {
    const before = this.#sets.length;
    const once = max === 0 ? NOTHING : this.#add(body);
    const size = this.#sets.length - before;
    if (size === 0) return NOTHING;
    if (max === Infinity && min <= 1) return this.#looped(once, min);
    const copies = max === Infinity ? min : max;
    // Above that, what counts is the loop of the body, which many repetitions are.
    if (copies * size > MOST_COPIES || this.#sets.length > MOST_STATES) return this.#looped(once, Math.min(min, 1));
    const all = [once, ...Array.from({ length: copies - 1 }, () => this.#add(body))];
    if (max === Infinity) all.push(this.#looped(all.pop()!, 1));
    // Of those that may be missing, each comes only after the one before.
    const optional = all.slice(min).reduceRight<Part>((rest, each) => maybe(this.#joined(each, rest)), NOTHING);
    const needed = all.slice(0, min).reduce((sofar, each) => this.#joined(sofar, each), NOTHING);
    return this.#joined(needed, optional);
  }

  /** A loop stops at an empty round, except in the first one if there must be one. */
  #looped({ first, last, empty }: Part, min: number): Part {
    this.#connect(last, first);
    return min === 0 ? { first, last, empty: 1 } : { first: sum([[first, 1 + empty]]), last, empty };
  }

  #joined(before: Part, after: Part): Part {
    this.#connect(before.last, after.first);
    return {
      first: sum([
        [before.first, 1],
        [after.first, before.empty],
      ]),
      last: sum([
        [after.last, 1],
        [before.last, after.empty],
      ]),
      empty: Math.min(2, before.empty * after.empty),
    };
  }

  #connect(from: Ways, to: Ways): void {
    for (const [state, ways] of from) {
      const next = this.#next[state]!;
      for (const [other, more] of to) next.set(other, Math.min(2, (next.get(other) ?? 0) + ways * more));
    }
  }

  /** The largest sets of states of which each can be reached from each (Tarjan), without recursion. */
  #loops(): ReadonlySet<number>[] {
    const loops: Set<number>[] = [];
    const numbers = new Map<number, number>();
    const lowest = new Map<number, number>();
    const open: number[] = [];
    const isOpen = new Set<number>();
    for (const root of this.#next.keys()) {
      if (numbers.has(root)) continue;
      const path: { readonly state: number; readonly rest: Iterator<number> }[] = [];
      const enter = (state: number) => {
        numbers.set(state, numbers.size);
        lowest.set(state, numbers.get(state)!);
        open.push(state);
        isOpen.add(state);
        path.push({ state, rest: this.#next[state]!.keys() });
      };
      enter(root);
      while (path.length > 0) {
        const { state, rest } = path.at(-1)!;
        const { value: other, done } = rest.next();
        if (!done) {
          if (!numbers.has(other)) enter(other);
          else if (isOpen.has(other)) lowest.set(state, Math.min(lowest.get(state)!, numbers.get(other)!));
          continue;
        }
        path.pop();
        const parent = path.at(-1);
        if (parent) lowest.set(parent.state, Math.min(lowest.get(parent.state)!, lowest.get(state)!));
        if (lowest.get(state) !== numbers.get(state)) continue;
        const loop = new Set(open.splice(open.indexOf(state)));
        for (const each of loop) isOpen.delete(each);
        if (loop.size > 1 || this.#next[state]!.has(state)) loops.push(loop);
      }
    }
    return loops;
  }

  /** Whether two runs from one state can read the same text in different ways and meet again. */
  #canPart(loop: ReadonlySet<number>): boolean {
    const within = [...loop].map((state) => [state, [...this.#next[state]!].filter(([to]) => loop.has(to))] as const);
    if (within.some(([, next]) => next.some(([, ways]) => ways > 1))) return true;
    const nextOf = new Map(within.map(([state, next]) => [state, next.map(([to]) => to)]));
    const size = this.#sets.length;
    const seen = new Set<number>();
    const waiting: (readonly [number, number])[] = [];
    let steps = 0;
    /** Whether both runs may be in one state after this. */
    const follow = (one: number, other: number, areApart: boolean): boolean => {
      for (const a of nextOf.get(one)!) {
        for (const b of nextOf.get(other)!) {
          if (++steps > MOST_STEPS) return true;
          if (a === b) {
            if (areApart) return true;
            continue;
          }
          const [low, high] = a < b ? [a, b] : [b, a];
          if (seen.has(low * size + high) || (this.#sets[a]! & this.#sets[b]!) === 0n) continue;
          seen.add(low * size + high);
          waiting.push([low, high]);
        }
      }
      return false;
    };
    for (const state of loop) if (follow(state, state, false)) return true;
    for (let pair = waiting.pop(); pair; pair = waiting.pop()) if (follow(...pair, true)) return true;
    return false;
  }
}

const NOTHING: Part = { first: new Map(), last: new Map(), empty: 1 };

function maybe({ first, last, empty }: Part): Part {
  return { first, last, empty: Math.min(2, empty + 1) };
}

function sum(all: readonly (readonly [Ways, number])[]): Ways {
  const ways: Ways = new Map();
  for (const [each, times] of all) {
    if (times === 0) continue;
    for (const [state, count] of each) ways.set(state, Math.min(2, (ways.get(state) ?? 0) + count * times));
  }
  return ways;
}
