/** The times of a log's lines that only a wrong clock writes, in words. */
export const IMPOSSIBLE_TIMES = "before 1995, or more than a day ahead of this machine's clock";
