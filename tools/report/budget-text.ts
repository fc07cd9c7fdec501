import { counted, printable, whole } from "#tidemark/internal";
import { DEFAULT_ORIGIN_MS } from "../counting/budget-trial.ts";
import { percentOf } from "../words/words.ts";
import type { BudgetReport } from "./access-report.ts";

/** A share so small that the address with the largest share is not worth naming. */
const TOO_SMALL = 0.001;

/** What a budget for the origin would have done, as a title and sentences. */
export function budgetText(report: BudgetReport): { readonly title: string; readonly sentences: readonly string[] } {
  const title = `With ${counted(report.concurrency, "request")} at a time at the origin`;
  if (report.misses === 0) return { title, sentences: ["No request would have reached it."] };
  return {
    title,
    sentences: [
      lengthText(report),
      waitText(report),
      turnedAwayText(report),
      `Without the limit there would have been ${whole(report.mostAtATime)} at a time at most.`,
      networksText(report),
      "A log does not show sessions, so all clients count as `other`. The edge would let editors and known visitors go first.",
    ],
  };
}

function lengthText({ originMs, misses, timedByLog, meanMs }: BudgetReport): string {
  if (originMs !== null) return `Each answer takes ${whole(originMs)} ms, as --origin-ms says.`;
  if (timedByLog === 0)
    return `Each answer takes ${DEFAULT_ORIGIN_MS} ms, because the log does not say how long; --origin-ms sets another time.`;
  const rest =
    timedByLog < misses
      ? ` For ${counted(misses - timedByLog, "miss", "misses")} without a time, the report assumes the average so far.`
      : "";
  return `Each answer takes as long as the log says, ${whole(meanMs)} ms on average.${rest}`;
}

function waitText({ waited, misses, waited99Ms, longestWaitMs, turnedAway }: BudgetReport): string {
  const all = counted(misses, "miss", "misses");
  if (waited === 0) {
    const isIdle = turnedAway.noPlace + turnedAway.tooLong === 0;
    return `None of ${all} would have ${isIdle ? "waited" : "got its turn after a wait"}.`;
  }
  const times = `99 % of these within ${whole(waited99Ms)} ms, the longest after ${whole(longestWaitMs)} ms`;
  return `${whole(waited)} of ${all} (${percentOf(waited / misses)}) would have waited for their turn: ${times}.`;
}

function turnedAwayText({ turnedAway: { noPlace, tooLong }, misses, queue }: BudgetReport): string {
  const all = noPlace + tooLong;
  if (all === 0) return "None would have got a 503 or a stale page.";
  const ofNoPlace = "because as many others waited as may";
  const ofTooLong = `because their turn had not come after ${queue.maxMs / 1000} s`;
  const both = `: ${whole(noPlace)} ${ofNoPlace}, ${whole(tooLong)} ${ofTooLong}`;
  const why = noPlace === 0 ? `, ${ofTooLong}` : tooLong === 0 ? `, ${ofNoPlace}` : both;
  return `${whole(all)} (${percentOf(all / misses)}) would have got a 503 or a stale page${why}.`;
}

function networksText({ networks }: BudgetReport): string {
  if (networks.length === 0) return "The log shows no addresses, so all clients are equal.";
  if (networks[0]!.share < TOO_SMALL) return `No address made as much as ${percentOf(TOO_SMALL)} of the misses.`;
  const each = networks.map(({ network, share }) => `${printable(network)} (${percentOf(share)})`);
  return `The addresses with the most misses: ${each.join(", ")}.`;
}
