import { KINDS } from "./day-pages.ts";
import type { Visit } from "./day-visitors.ts";

const HOUR_MS = 3_600_000;
const WEIGHTS = Object.entries(KINDS).map(([name, { weight }]) => ({ name, weight }));
const ALL_WEIGHTS = WEIGHTS.reduce((sum, { weight }) => sum + weight, 0);

/** How many ask at this hour, against the average: few at night, some before noon, most in the evening. */
export function busyness(hour: number): number {
  return (0.2 + 0.9 * bell(hour, 11, 2.5) + 1.6 * bell(hour, 20, 2.5)) / 0.65;
}

function bell(hour: number, middle: number, width: number): number {
  return Math.exp(-(((hour - middle) / width) ** 2));
}

/** The moments of a day at which something happens by chance, so many in all: milliseconds since its beginning. */
export function* momentsOf(count: number, random: () => number): Generator<number> {
  for (let at = 0; ; ) {
    at -= Math.log(1 - random()) / ((count / (24 * HOUR_MS)) * busyness(at / HOUR_MS));
    yield at;
  }
}

/** What a visitor asks for. `hasShop`: the second host is known. */
export function visitAt(random: () => number, hasShop: boolean): Visit {
  const name = kindAt(random() * ALL_WEIGHTS);
  if (name === "shop" && !hasShop) return visitAt(random, hasShop);
  const { pages, bytes, audience } = KINDS[name]!;
  const number = Number.isFinite(pages) ? popular(pages, random) : Math.floor(random() * 1e9);
  const isPersonal = audience !== "all";
  const mayBeHead = random() < 0.03;
  const hasSession = isPersonal || random() < 0.25;
  return {
    target: `/${name}/${number}`,
    method: mayBeHead ? "HEAD" : name === "article" && random() < 0.01 ? "POST" : "GET",
    sid: hasSession ? `s${Math.floor(random() * 200)}` : undefined,
    language: random() < 0.3 ? "de" : "en",
    // A field that the site does not know, and that chooses nothing.
    experiment: random() < 0.05 ? `arm-${Math.floor(random() * 4)}` : undefined,
    range: name === "large" && random() < 0.5 ? rangeOf(bytes, random) : undefined,
  };
}

function kindAt(weight: number): string {
  let rest = weight;
  for (const each of WEIGHTS) {
    rest -= each.weight;
    if (rest < 0) return each.name;
  }
  return "home";
}

/** By Zipf: the first page is asked for twice as often as the second, and so on. */
export function popular(pages: number, random: () => number): number {
  return Math.min(pages - 1, Math.floor((pages + 1) ** random()) - 1);
}

function rangeOf(bytes: number, random: () => number): readonly [number, number] {
  const first = Math.floor(random() * bytes);
  return [first, Math.min(bytes - 1, first + 100_000)];
}
