import { LoggedRequest } from "../../../tools/logs/logged-request.ts";
import type { TimeOrder } from "../../../tools/logs/time-order.ts";

/** The class, from these sources or from mutated ones. */
export interface Order {
  readonly TimeOrder: typeof TimeOrder;
}

export interface OrderCase {
  readonly name: string;
  /** When the lines were logged, in the order in which they stand: milliseconds. */
  readonly logged: readonly number[];
  /** Default: 10 seconds, and 100 requests. */
  readonly window?: { readonly seconds: number; readonly maxHeld: number };
  /** The order in which they are handed on, by their places. */
  readonly handsOn: readonly number[];
  readonly outOfOrder: number;
  readonly late: number;
}

const WINDOW = { seconds: 10, maxHeld: 100 };

export const orderCases: readonly OrderCase[] = [
  {
    name: "lines in order stay as they are",
    logged: [0, 500, 500, 9_000, 60_000],
    handsOn: [0, 1, 2, 3, 4],
    outOfOrder: 0,
    late: 0,
  },
  { name: "lines of one second are put in order", logged: [900, 500, 100], handsOn: [2, 1, 0], outOfOrder: 2, late: 0 },
  {
    name: "lines with the same time stay in their order",
    logged: [5_000, 3_000, 5_000, 3_000],
    handsOn: [1, 3, 0, 2],
    outOfOrder: 2,
    late: 0,
  },
  {
    name: "a line that is older by just the window is put in order",
    logged: [20_000, 20_500, 30_000, 20_000],
    handsOn: [0, 3, 1, 2],
    outOfOrder: 1,
    late: 0,
  },
  {
    name: "a line that is older by more than the window is late if a later one has gone",
    logged: [20_000, 31_000, 19_000],
    handsOn: [0, 2, 1],
    outOfOrder: 1,
    late: 1,
  },
  {
    name: "a line that is older by more than the window is in order if none that is later has gone",
    logged: [20_000, 60_000, 40_000, 40_000],
    handsOn: [0, 2, 3, 1],
    outOfOrder: 2,
    late: 0,
  },
  {
    name: "no more wait than the window allows, the earliest second going first",
    logged: [2_000, 3_000, 1_000, 4_000, 2_500, 1_500],
    window: { seconds: 10, maxHeld: 3 },
    handsOn: [2, 0, 4, 5, 1, 3],
    outOfOrder: 3,
    late: 1,
  },
  {
    name: "more lines of one second than may wait stay in order",
    logged: [1_000, 1_001, 1_002, 1_003, 1_004],
    window: { seconds: 10, maxHeld: 2 },
    handsOn: [0, 1, 2, 3, 4],
    outOfOrder: 0,
    late: 0,
  },
  {
    name: "times before 1970 are valid",
    logged: [-5_500, -7_000, -6_500],
    handsOn: [1, 2, 0],
    outOfOrder: 2,
    late: 0,
  },
];

/** What comes of a case: the places in the order in which they are handed on, and the counts. */
export function outcomeOf({ TimeOrder }: Order, { logged, window = WINDOW }: OrderCase) {
  const handsOn: number[] = [];
  const order = new TimeOrder(({ target }) => handsOn.push(Number(target)), window);
  const request = new LoggedRequest();
  for (const [place, at] of logged.entries()) {
    // The reader fills one object again and again.
    order.add(Object.assign(request, { at, target: String(place) }));
  }
  order.end();
  return { handsOn, outOfOrder: order.outOfOrder, late: order.late };
}
