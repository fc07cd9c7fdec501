/*
 * The heaviest URLs by the space-saving algorithm (Metwally, Agrawal, El Abbadi: "Efficient Computation of Frequent and
 * Top-k Elements in Data Streams", ICDT 2005), except that the lightest entries are dropped many at a time. The weight of an
 * entry is at most `error` above its true one. Every URL whose true weight exceeds the sum of all weights divided by
 * `MAX_TOP_URLS` is returned, because that many entries stay, together weigh no more than that sum, and none is lighter
 * than one that is dropped.
 */

import { beginningOf } from "../rules/key/expiring-keys.ts";

/** The most URLs that are kept of a kind. */
export const MAX_TOP_URLS = 64;

/** The most that are kept while they are counted. */
const MAX_COUNTED = 4 * MAX_TOP_URLS;

/** The most characters of a URL that are shown. One more is kept, to show that it was cut. */
const MAX_CHARACTERS = 200;
const KEPT_CHARACTERS = MAX_CHARACTERS + 1;

export interface TopUrl {
  readonly url: string;
  readonly weight: number;
  readonly error: number;
  /** How often it was counted since it has its entry. */
  readonly times: number;
  /** Why the answer was not stored. */
  readonly because?: string | undefined;
}

type Counted = { -readonly [Name in keyof TopUrl]: TopUrl[Name] };

export class TopUrls {
  /** With their URLs as they came, but cut: those that are dropped are never written as text. */
  #entries = new Map<string, Counted>();
  /** The most that a URL without an entry may weigh. */
  #givenUp = 0;

  add(given: string, weight: number, because?: string): void {
    const url = beginningOf(given, KEPT_CHARACTERS);
    const key = keyOf(because, url);
    const held = this.#entries.get(key);
    if (held) {
      count(held, weight, 0, 1);
      return;
    }
    const error = this.#givenUp;
    this.#entries.set(key, { url, weight: error + weight, error, times: 1, because });
    if (this.#entries.size < MAX_COUNTED) return;
    const heaviest = heaviestFirst(this.#entries.values());
    this.#givenUp = heaviest[MAX_TOP_URLS]!.weight; // none is lighter than what was given up before
    this.#entries = new Map(heaviest.slice(0, MAX_TOP_URLS).map((each) => [keyOf(each.because, each.url), each]));
  }

  /** Its heaviest entries. It forgets all of them. */
  take(): TopUrl[] {
    const taken = new Map<string, Counted>();
    for (const each of this.#entries.values()) {
      each.url = shownUrl(each.url);
      const key = keyOf(each.because, each.url);
      const alike = taken.get(key);
      if (alike) count(alike, each.weight, each.error, each.times);
      else taken.set(key, each);
    }
    this.#entries = new Map();
    this.#givenUp = 0;
    return heaviestFirst(taken.values()).slice(0, MAX_TOP_URLS);
  }
}

function count(entry: Counted, weight: number, error: number, times: number): void {
  entry.weight += weight;
  entry.error += error;
  entry.times += times;
}

function heaviestFirst(entries: Iterable<Counted>): Counted[] {
  return [...entries].sort((a, b) => b.weight - a.weight);
}

/**
 * The heaviest of both, which have the heaviest first. A URL that only one of them has may have been in the other one with
 * any weight up to the lightest entry, if that one is full.
 */
export function mergeTopUrls(some: readonly TopUrl[], more: readonly TopUrl[]): TopUrl[] {
  const sides = [some, more].map((urls) => {
    const { weight } = urls[MAX_TOP_URLS - 1] ?? { weight: 0 };
    return {
      held: new Map(urls.map((each) => [keyOf(each.because, each.url), each])),
      missing: { weight, error: weight, times: 0 },
    };
  });
  const merged = [...new Map(sides.flatMap(({ held }) => [...held]))].map(([key, each]) => {
    const [a, b] = sides.map(({ held, missing }) => held.get(key) ?? missing) as [TopUrl, TopUrl];
    return { ...each, weight: a.weight + b.weight, error: a.error + b.error, times: a.times + b.times };
  });
  return heaviestFirst(merged).slice(0, MAX_TOP_URLS);
}

function keyOf(because: string | undefined, url: string): string {
  return because === undefined ? url : `${because} ${url}`;
}

/** A URL that is not stored is kept without its query, because that may be about one visitor. */
export function withoutQuery(url: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url : beginningOf(url, Math.min(end, KEPT_CHARACTERS));
}

/** Printable ASCII that needs no escape. */
const PLAIN = /^[!#-&(-;=?-[\]-_a-~]*$/;

/** The URL as printable ASCII, and not too long. */
function shownUrl(url: string): string {
  if (url.length <= MAX_CHARACTERS && PLAIN.test(url)) return url;
  const printable = url
    .toWellFormed()
    .replace(/[^!-~]+|["<>`\\]/g, encodeURIComponent)
    .replaceAll("'", "%27");
  return printable.length > MAX_CHARACTERS ? `${printable.slice(0, MAX_CHARACTERS)}…` : printable;
}
