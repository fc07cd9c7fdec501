import { counted, IMPOSSIBLE_TIMES, whole } from "#tidemark/internal";
import { ORDER_WINDOW } from "../logs/time-order.ts";
import { percentOf } from "./words.ts";

/** The notes on the times of a log: the impossible ones, and the order. Empty if there is nothing to say. */
export function timeNotes(logs: OrderedLogs & { readonly misdated: number }): readonly string[] {
  const { misdated } = logs;
  return [
    ...(misdated === 0
      ? []
      : [`${counted(misdated, "line has", "lines have")} an impossible time: ${IMPOSSIBLE_TIMES}.`]),
    ...orderNotes(logs),
  ];
}

interface OrderedLogs {
  readonly lines: number;
  readonly outOfOrder: number;
  readonly late: number;
}

/** How much of a log was out of order, and whether it could be ordered. */
function orderNotes(logs: OrderedLogs): readonly string[] {
  const { lines, outOfOrder, late } = logs;
  if (outOfOrder === 0) return [];
  const share = percentOf(outOfOrder / lines);
  const found = `${counted(outOfOrder, "line is", "lines are")} older than an earlier one (${share})`;
  if (late === 0) return [`${found}, and ${outOfOrder === 1 ? "was" : "were"} put in order.`];
  const window = `${ORDER_WINDOW.seconds / 60} minutes or ${whole(ORDER_WINDOW.maxHeld)} lines`;
  return [
    `${found}. ${whole(outOfOrder - late)} of them were put in order.`,
    `${counted(late, "line")} came more than ${window} too late for that: ${late === 1 ? "it counts" : "they count"} as if logged at the time of the previous line.`,
  ];
}
