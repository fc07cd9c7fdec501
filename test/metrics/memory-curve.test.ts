import { describe, expect, test } from "vitest";
import { addCounts, type CountTree, emptyTree } from "../../worker/metrics/count-tree.ts";
import { memoryCurve } from "../../worker/metrics/memory-curve.ts";
import { type ReuseCounts, ReuseSample } from "../../worker/metrics/reuse-sample.ts";
import { chances } from "../engine/chances.ts";
import { inGate } from "../suite/depth.ts";

/** How far from the truth the curve may be, as a share of all uses. */
const MOST_APART = 0.05;

/** The exact memory that evicts what was not used for longest. */
class Lru {
  readonly #maxBytes: number;
  readonly #held = new Map<string, number>();
  #bytes = 0;
  hits = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  use(key: string, bytes: number): boolean {
    const isHit = this.#held.delete(key);
    if (isHit) this.hits++;
    else this.#bytes += bytes;
    this.#held.set(key, bytes);
    for (const [oldest, its] of this.#held) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#held.delete(oldest);
      this.#bytes -= its;
    }
    return isHit;
  }
}

interface Traffic {
  readonly name: string;
  readonly pages: number;
  readonly page: (random: () => number, turn: number) => number;
}

const bytesOf = (page: number) => 2_000 + ((page * 7919) % 30_000);
const keyOf = (page: number) => `https://www.example.test/page/${page}`;

const TRAFFIC: readonly Traffic[] = [
  { name: "few pages, all of which are sampled", pages: 300, page: (random) => Math.floor(300 * random() ** 2) },
  { name: "eight thousand pages by popularity", pages: 8_000, page: (random) => Math.floor(8_000 * random() ** 3) },
  { name: "pages that are all as popular", pages: 2_000, page: (random) => Math.floor(2_000 * random()) },
  {
    name: "a front page among pages that are asked for once",
    pages: 20_000,
    page: (random, turn) => (random() < 0.5 ? 0 : turn),
  },
];

/** The curve and the truth, for memories of a 32nd to a half of all pages. */
function compared({ pages, page }: Traffic, seed: number): { bytes: number; hitRatio: number; truth: number }[] {
  const random = chances(seed);
  const maxBytes = (pages * 17_000) / 16;
  const trials = [0.25, 0.5, 1, 2, 4, 8].map((size) => new Lru(maxBytes * size));
  const sample = new ReuseSample();
  const uses = 20_000;
  for (let turn = 0; turn < uses; turn++) {
    const asked = page(random, turn);
    const [, , held] = trials.map((trial) => trial.use(keyOf(asked), bytesOf(asked)));
    if (held) sample.found(keyOf(asked));
    else sample.missed(keyOf(asked), bytesOf(asked));
  }
  expect(sample.counts).toMatchObject({ uses, held: trials[2]!.hits });
  return memoryCurve(sample.counts, maxBytes).map((point, index) => ({ ...point, truth: trials[index]!.hits / uses }));
}

describe("the curve of hit ratio over memory is that of an exact LRU", () => {
  test.each(TRAFFIC)("$name", (traffic) => {
    for (const seed of inGate(1, [1, 2, 3])) {
      for (const { bytes, hitRatio, truth } of compared(traffic, seed)) {
        expect({ seed, bytes, apart: Math.abs(hitRatio - truth) < MOST_APART, hitRatio, truth }).toMatchObject({
          apart: true,
        });
      }
    }
  });

  test("and of two isolates together, when the ledger has added them up", () => {
    const sums = [1, 2].map((seed) => {
      const random = chances(seed);
      const sample = new ReuseSample();
      for (let turn = 0; turn < 20_000; turn++) {
        const asked = Math.floor(3_000 * random() ** 2);
        sample.missed(keyOf(asked), bytesOf(asked));
      }
      return sample.counts;
    });
    const sum = sums.reduce((all, each) => addCounts(all, each as unknown as CountTree), emptyTree());
    const both = memoryCurve(sum as unknown as ReuseCounts, 8e6).map(({ hitRatio }) => hitRatio);
    const [one, other] = sums.map((each) => memoryCurve(each, 8e6).map(({ hitRatio }) => hitRatio));
    for (const [index, hitRatio] of both.entries()) {
      expect(hitRatio).toBeCloseTo((one![index]! + other![index]!) / 2, 1);
    }
  });
});

test("the sample is bounded, whatever is asked for, and very long keys are not kept", { tags: ["deep"] }, () => {
  const sample = new ReuseSample();
  for (let page = 0; page < 50_000; page++)
    sample.missed(`${keyOf(page)}?${"x".repeat(page % 2 === 0 ? 5_000 : 10)}`, 1);
  const { buckets } = sample.counts.after;
  expect(Object.keys(buckets)).toHaveLength(1);
  // The pages with short keys, half of them, as far as the sample can tell.
  expect(Object.values(buckets)[0]! / 25_000).toBeCloseTo(1, 0);
  expect(sample.keys).toBeLessThanOrEqual(1024);
});

test("pages with keys that are too long count for nothing, rather than as used again at once", () => {
  const long = "x".repeat(513);
  const sample = new ReuseSample();
  for (let turn = 0; turn < 1_000; turn++) {
    sample.missed(`${long}${turn % 400}`, 200_000);
    sample.found(`${long}${turn % 400}`);
  }
  expect(sample.counts).toMatchObject({ uses: 0, held: 0, after: { buckets: {} } });
});
