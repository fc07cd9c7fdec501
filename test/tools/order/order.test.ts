import { describe, expect, test } from "vitest";
import { LoggedRequest } from "../../../tools/logs/logged-request.ts";
import { TimeOrder } from "../../../tools/logs/time-order.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";
import { orderCases, outcomeOf } from "./order-cases.ts";

describe("the order of a log", () => {
  test.each(orderCases)("$name", (each) => {
    const { handsOn, outOfOrder, late } = each;
    expect(outcomeOf({ TimeOrder }, each)).toEqual({ handsOn, outOfOrder, late });
  });

  test("keeps no more of a log in memory than what waits, of any field", () => {
    const order = new TimeOrder(() => undefined);
    const before = usedHeapBytes();
    for (let piece = 0; piece < 100; piece++) {
      const text = Buffer.alloc(PIECE_BYTES, `a field of ${piece}, `).toString("latin1");
      // Each field has 20 of them, which alone would be more than may stay.
      order.add(Object.assign(new LoggedRequest(), { at: piece, [FIELDS[piece % FIELDS.length]!]: text.slice(0, 20) }));
    }
    expect(usedHeapBytes() - before).toBeLessThan(10 * PIECE_BYTES);
    order.end();
  });
});

const PIECE_BYTES = 256 * 1024;
const FIELDS = ["method", "host", "target", "userAgent", "client"] as const;
