import type { Budget, BudgetOutcome, BudgetTrial, Miss } from "../../../tools/counting/budget-trial.ts";

/** The class, from these sources or from mutated ones. */
export interface Trial {
  readonly BudgetTrial: typeof BudgetTrial;
}

export interface BudgetCase {
  readonly name: string;
  /** Default: one at a time, each for 100 ms; a thousand may wait, for five seconds. */
  readonly budget?: Partial<Omit<Budget, "queue">> & { readonly queue?: Partial<Budget["queue"]> };
  /** When each miss was logged, in milliseconds, and what the log says of it. Default: of the client `A`, and no time. */
  readonly misses: readonly (Partial<Miss> & Pick<Miss, "at">)[];
  readonly expect: Partial<BudgetOutcome>;
}

const NOBODY = { noPlace: 0, tooLong: 0 };

export const budgetCases: readonly BudgetCase[] = [
  {
    name: "nobody waits while there is room",
    budget: { concurrency: 2, originMs: 600 },
    misses: [{ at: 1 }, { at: 2 }, { at: 602 }],
    expect: { misses: 3, waited: 0, waited99Ms: 0, longestWaitMs: 0, turnedAway: NOBODY, mostAtATime: 2 },
  },
  {
    name: "an answer that ends when a miss comes has made room for it",
    misses: [{ at: 1 }, { at: 101 }],
    expect: { waited: 0, mostAtATime: 1 },
  },
  {
    name: "of two at once the second waits until the first has its answer",
    misses: [{ at: 1 }, { at: 1 }],
    expect: { waited: 1, waited99Ms: 100, longestWaitMs: 100, turnedAway: NOBODY, mostAtATime: 2 },
  },
  {
    // They come at 1000, 1250, 1500 and 1750, and begin at 1000, 1300, 1600 and 1900.
    name: "misses logged with whole seconds are spread over the second",
    budget: { originMs: 300 },
    misses: [{ at: 1000 }, { at: 1000 }, { at: 1000 }, { at: 1000 }],
    expect: { waited: 3, longestWaitMs: 150, mostAtATime: 2 },
  },
  {
    name: "misses of a log with milliseconds come when it says",
    budget: { originMs: 300 },
    misses: [{ at: 1000 }, { at: 1001 }, { at: 1002 }, { at: 1003 }],
    expect: { waited: 3, longestWaitMs: 897, mostAtATime: 4 },
  },
  {
    // It comes at 0, 250, 500 and 750, and begins at 0, 300, 600 and 900.
    name: "a sampled page counts for all that it represents, each at another time of the second",
    budget: { originMs: 300 },
    misses: [{ at: 20, weight: 4 }],
    expect: {
      misses: 4,
      waited: 3,
      longestWaitMs: 150,
      mostAtATime: 2,
      networks: [{ network: "A", misses: 4, share: 1 }],
    },
  },
  {
    // They come at 5000, 5333 and 5666, and begin at 5000, 5600 and 6200.
    name: "a miss that is older than an earlier one counts in that one's second",
    budget: { originMs: 600 },
    misses: [{ at: 5000 }, { at: 3000 }, { at: 4000 }],
    expect: { waited: 2, longestWaitMs: 534 },
  },
  {
    // B waits 97 ms, and A's two 199 and 298. In the order of their coming it would be 99, 198 and 297.
    name: "a client with many misses is overtaken by one with few",
    misses: [{ at: 1 }, { at: 2 }, { at: 3 }, { at: 4, client: "B" }],
    expect: { waited: 3, longestWaitMs: 298 },
  },
  {
    // B waits longest, because the edge goes by the misses that it knows of.
    name: "clients without addresses go in their order of arrival, and none is named",
    misses: [
      { at: 1, client: "" },
      { at: 2, client: "" },
      { at: 3, client: "" },
      { at: 4, client: "B" },
    ],
    expect: { waited: 3, longestWaitMs: 297, networks: [{ network: "B", misses: 1, share: 1 / 4 }] },
  },
  {
    // The first that waits has two misses, all others one. Its turn would be the last, after 259 ms, but the twentieth is
    // that of the first who came, after 199 ms.
    name: "one turn of twenty goes to the request that came first",
    budget: { originMs: 10 },
    misses: [{ at: 1 }, { at: 2 }, ...Array.from({ length: 25 }, (_none, client) => ({ at: 3, client: `B${client}` }))],
    expect: { waited: 26, longestWaitMs: 258 },
  },
  {
    // A had four misses, which count as two by then. With the next it has three, as B has, and came first: it waits 9 ms.
    name: "misses of three minutes ago count half",
    budget: { originMs: 10, queue: { maxWaiting: 1 } },
    misses: [
      ...[101, 201, 301, 401].map((at) => ({ at })),
      ...[190_101, 190_201].map((at) => ({ at, client: "B" })),
      { at: 190_301, client: "C" },
      { at: 190_302 },
      { at: 190_303, client: "B" },
    ],
    expect: { waited: 1, longestWaitMs: 9, turnedAway: { noPlace: 1, tooLong: 0 } },
  },
  {
    name: "when the queue is full, the last request gives up its place to one that goes before it",
    budget: { queue: { maxWaiting: 1 } },
    misses: [{ at: 1 }, { at: 2 }, { at: 3, client: "B" }],
    expect: { waited: 1, longestWaitMs: 98, turnedAway: { noPlace: 1, tooLong: 0 } },
  },
  {
    name: "when the queue is full, a request that would be the last gets no place",
    budget: { queue: { maxWaiting: 1 } },
    misses: [{ at: 1 }, { at: 2, client: "B" }, { at: 3 }],
    expect: { waited: 1, longestWaitMs: 99, turnedAway: { noPlace: 1, tooLong: 0 } },
  },
  {
    name: "if no request may wait, all that arrive while one is at the origin get no place",
    budget: { queue: { maxWaiting: 0 } },
    misses: [{ at: 1 }, { at: 2 }, { at: 3, client: "B" }, { at: 101 }],
    expect: { waited: 0, turnedAway: { noPlace: 2, tooLong: 0 } },
  },
  {
    name: "one that has waited as long as it may gets no turn",
    budget: { originMs: 150, queue: { maxMs: 100 } },
    misses: [{ at: 1 }, { at: 51 }],
    expect: { waited: 0, turnedAway: { noPlace: 0, tooLong: 1 } },
  },
  {
    name: "one that has waited almost as long as it may gets its turn",
    budget: { originMs: 150, queue: { maxMs: 100 } },
    misses: [{ at: 1 }, { at: 52 }],
    expect: { waited: 1, longestWaitMs: 99, turnedAway: NOBODY },
  },
  {
    // The one of 2 leaves at 102. Until then it has the only place; the one of 103 has it until 151.
    name: "one that has waited too long leaves its place to others",
    budget: { originMs: 150, queue: { maxMs: 100, maxWaiting: 1 } },
    misses: [{ at: 1 }, { at: 2 }, { at: 103 }],
    expect: { waited: 1, longestWaitMs: 48, turnedAway: { noPlace: 0, tooLong: 1 } },
  },
  {
    // At 101, 99 answers end, and 99 begin that have waited since 51. The last one waits from 52 until 302.
    name: "the longest wait is one request's, and 99 % waited less",
    budget: { concurrency: 100, originMs: null },
    misses: [
      { at: 1, tookMs: 301 },
      ...Array.from({ length: 99 }, () => ({ at: 1, tookMs: 100 })),
      ...Array.from({ length: 99 }, () => ({ at: 51, client: "", tookMs: 300 })),
      { at: 52, client: "", tookMs: 300 },
    ],
    expect: { waited: 100, waited99Ms: 50, longestWaitMs: 250 },
  },
  {
    // The first is there until 201, so that the second waits 199 ms, until 501. The third then begins, and takes 300 ms.
    name: "without --origin-ms each answer takes as long as the log says, or the average so far, or 200 ms",
    budget: { originMs: null },
    misses: [{ at: 1 }, { at: 2, tookMs: 299.6 }, { at: 3 }, { at: 801, tookMs: 100 }],
    expect: { misses: 4, timedByLog: 2, meanMs: 225, waited: 2, longestWaitMs: 498 },
  },
  {
    name: "--origin-ms overrides the log",
    misses: [
      { at: 1, tookMs: 300 },
      { at: 1, tookMs: 300 },
    ],
    expect: { timedByLog: 0, meanMs: 100, longestWaitMs: 100 },
  },
  {
    name: "the networks with the most misses are listed, IPv6 by the network half of the address",
    misses: [
      "2001:db8:0:1::7",
      "2001:db8:0:1:2:3:4:5",
      "2001:db8::7",
      "192.0.2.7",
      "::ffff:192.0.2.7",
      "192.0.2.7",
      "host.example",
      "host.example",
      "host.example",
      "host.example",
      "",
      "",
    ].map((client, place) => ({ at: 1 + place * 1001, client })),
    expect: {
      misses: 12,
      networks: [
        { network: "host.example", misses: 4, share: 4 / 12 },
        { network: "192.0.2.7", misses: 3, share: 3 / 12 },
        { network: "2001:db8:0:1::/64", misses: 2, share: 2 / 12 },
      ],
    },
  },
  {
    name: "a log without misses",
    misses: [],
    expect: { misses: 0, meanMs: 0, waited: 0, longestWaitMs: 0, turnedAway: NOBODY, mostAtATime: 0, networks: [] },
  },
];

/** What comes of a case. */
export function outcomeOf({ BudgetTrial }: Trial, { budget, misses }: BudgetCase): BudgetOutcome {
  const queue = { maxMs: 5000, maxWaiting: 1000, ...budget?.queue };
  const trial = new BudgetTrial({ concurrency: 1, originMs: 100, ...budget, queue });
  for (const miss of misses) trial.take({ client: "A", tookMs: null, weight: 1, ...miss });
  return trial.end();
}
