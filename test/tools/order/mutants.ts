import type { Mutants } from "../../mutants/mutant.ts";

/** Windows that put the lines of a log in a wrong order, or say so wrongly. */
export const mutants: Mutants = {
  "order: the lines of a log": {
    "lines are handed on as they come": {
      in: "TimeOrder.add",
      replace: "second <= this.#doneTo",
      by: "second <= Infinity",
      foundBy: "order: a line that is older by just the window is put in order",
    },
    "the window is a second short": {
      in: "TimeOrder.add",
      replace: "second - this.#window.seconds - 1",
      by: "second - this.#window.seconds",
      foundBy: "order: a line that is older by just the window is put in order",
    },
    "lines of one second stay as they came": {
      in: "TimeOrder.#empty",
      drop: "if (!second.isInOrder) requests.sort((a, b) => a.at - b.at);",
      foundBy: "order: lines of one second are put in order",
    },
    "only the latest line of a second says whether it is in order": {
      in: "TimeOrder.#hold",
      replace: "request.at < latest.at",
      by: "request.at > latest.at",
      foundBy: "order: lines of one second are put in order",
    },
    "any number of lines waits": {
      in: "TimeOrder.add",
      replace: "this.#held > this.#window.maxHeld",
      by: "this.#held > Infinity",
      foundBy: "order: no more wait than the window allows, the earliest second going first",
    },
    "too many lines that wait make one second go, whether it has any or not": {
      in: "TimeOrder.add",
      replace: "while (this.#held > this.#window.maxHeld) this.#handOnTo(this.#doneTo + 1);",
      by: "if (this.#held > this.#window.maxHeld) this.#handOnTo(this.#doneTo + 1);",
      foundBy: "order: no more wait than the window allows, the earliest second going first",
    },
    "a line of the same time counts as out of order": {
      in: "TimeOrder.add",
      replace: "request.at < this.#newestAt",
      by: "request.at <= this.#newestAt",
      foundBy: "order: lines in order stay as they are",
    },
    "a line behind the window counts as late, even if no later one has gone": {
      in: "TimeOrder.#handOn",
      replace: "request.at < this.#handedOnAt",
      by: "request.at < this.#newestAt",
      foundBy: "order: a line that is older by more than the window is in order if none that is later has gone",
    },
    "late lines are not counted": {
      in: "TimeOrder.#handOn",
      drop: "if (request.at < this.#handedOnAt) this.late++; else this.#handedOnAt = request.at;",
      foundBy: "order: a line that is older by more than the window is late if a later one has gone",
    },
    "the reader's own object waits": {
      in: "TimeOrder.#hold",
      replace: "(this.#spare.pop() ?? new LoggedRequest()).copy(request)",
      by: "request",
      foundBy: "order: lines of one second are put in order",
    },
    "what waits at the end is lost": {
      in: "TimeOrder.end",
      drop: "this.#handOnTo(Math.floor(this.#newestAt / 1000));",
      foundBy: "order: lines in order stay as they are",
    },
  },
};
