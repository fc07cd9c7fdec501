import { chances } from "../../engine/chances.ts";

/** Requests for pages of many sizes, in order. The seed decides everything. */
export interface Traffic {
  readonly name: string;
  /** The page that each request is for. */
  readonly pages: Int32Array;
  /** The size of each page. */
  readonly sizeBytes: Int32Array;
}

type Random = () => number;

/** A request's page, by the number of the request. */
type NextPage = (request: number) => number;

const PAGES = 20_000;

/** Kinds of traffic, by what a cache must do well to serve each. */
export function allTraffic(requests: number, seed: number): Traffic[] {
  const make = (name: string, kind: (random: Random) => NextPage) => traffic(name, requests, seed, kind);
  return [
    ...[0.6, 0.8, 1, 1.2].map((exponent) => make(`Zipf ${exponent}`, (random) => zipf(PAGES, exponent, random))),
    make("Zipf 0.9, a third crawled once", (random) => crawled(zipf(PAGES, 0.9, random), 1 / 3, random)),
    make("Zipf 0.9, nine of ten crawled", (random) => crawled(zipf(PAGES, 0.9, random), 0.9, random)),
    make("Zipf 0.9, a crawl of all pages", (random) => scans(zipf(PAGES, 0.9, random))),
    make("loop over 4,000 pages", () => (request) => request % 4_000),
    make("loop over 12,000 pages", () => (request) => request % 12_000),
    make("Zipf 0.8 and a loop, half each", (random) => loopBeside(zipf(PAGES, 0.8, random), random)),
    make("Zipf 0.8, drifting", (random) => drifting(zipf(PAGES, 0.8, random), 20)),
    make("Zipf 1, drifting fast", (random) => drifting(zipf(PAGES, 1, random), 3)),
    make("news: the latest pages", (random) => news(random)),
    make("news beside Zipf 0.8", (random) => newsBeside(zipf(PAGES, 0.8, random), news(random), random)),
    make("news and a loop, in turns", (random) => inTurns(news(random), (request) => PAGES * 10 + (request % 6_000))),
  ];
}

function traffic(name: string, requests: number, seed: number, kind: (random: Random) => NextPage): Traffic {
  const next = kind(chances(seed));
  const numbers = new Map<number, number>();
  const pages = Int32Array.from({ length: requests }, (_, request) => {
    const page = next(request);
    const number = numbers.get(page) ?? numbers.size;
    numbers.set(page, number);
    return number;
  });
  const random = chances(seed + 1);
  return { name, pages, sizeBytes: Int32Array.from({ length: numbers.size }, () => pageBytes(random)) };
}

/**
 * The size of a page: log-normal with a median of 12 KB and a mean of about 40 KB, which is what surveys of web objects
 * find, and independent of how often the page is requested.
 */
function pageBytes(random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.min(4_000_000, Math.max(200, Math.round(12_000 * Math.exp(1.55 * normal))));
}

/** The page at rank `r` has a share in proportion to 1 / r ** exponent. */
function zipf(count: number, exponent: number, random: Random): () => number {
  const shares = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) shares[rank] = sum += 1 / (rank + 1) ** exponent;
  return () => {
    const at = random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shares[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** A share of the requests is for pages that are requested once. */
function crawled(popular: () => number, share: number, random: Random): NextPage {
  return (request) => (random() < share ? PAGES + request : popular());
}

/** From time to time one crawler requests page after page, beside the visitors. */
function scans(popular: () => number): NextPage {
  let at = 0;
  return (request) => (request % 100_000 >= 60_000 && request % 2 === 0 ? at++ % PAGES : popular());
}

function loopBeside(popular: () => number, random: Random): NextPage {
  let at = 0;
  return () => (random() < 0.5 ? PAGES + (at++ % 6_000) : popular());
}

/** Each rank goes to the next page after so many requests, so that all popular pages are others in the end. */
function drifting(popular: () => number, requestsAStep: number): NextPage {
  return (request) => popular() + Math.floor(request / requestsAStep);
}

/** A new page every few requests; most requests are for the last few hundred. */
function news(random: Random): NextPage {
  return (request) => PAGES * 20 + Math.floor(request / 10) - Math.floor(-Math.log(1 - random()) * 400);
}

function newsBeside(popular: () => number, latest: NextPage, random: Random): NextPage {
  return (request) => (random() < 0.5 ? popular() : latest(request));
}

/** One kind of traffic, then the other, which is hardest on a policy that adapts. */
function inTurns(first: NextPage, second: NextPage): NextPage {
  return (request) => (Math.floor(request / 50_000) % 2 === 0 ? first : second)(request);
}
