import type { Mutants } from "../../mutants/mutant.ts";

/** Wrong rules of how a connection in HTTP/2 ends. */
export const mutants: Mutants = {
  "lastStream: when a connection ends": {
    "a connection ends at once, whatever is on its way": {
      in: "mayNameLastStream",
      replace: "return open > 0 && open >= mostOpen;",
      by: "return true;",
      foundBy: "lastStream: one request less than the client ever had open",
    },
    "a connection on which nothing has come yet ends before its first request": {
      in: "mayNameLastStream",
      replace: "open > 0 &&",
      by: "",
      foundBy: "lastStream: nothing has come yet",
    },
    "a connection ends between two requests": {
      in: "mayNameLastStream",
      replace: "open > 0 && open >= mostOpen",
      by: "open === 0 && mostOpen > 0",
      foundBy: ["lastStream: the last answer is out", "lastStream: the first request has come"],
    },
    "a connection waits for more requests than its client ever sent at a time": {
      in: "mayNameLastStream",
      replace: "open >= mostOpen",
      by: "open > mostOpen",
      foundBy: "lastStream: as many requests as the client ever had open",
    },
    "a connection without requests is kept": {
      in: "mayNameLastStream",
      drop: "if (waitedMs >= LAST_STREAM_WITHIN_MS)",
      foundBy: "lastStream: the time is over",
    },
  },
};
