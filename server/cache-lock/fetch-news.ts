/** A worker's message about a fetch to another worker that waits for it. */
export type FetchNews =
  /** The disk has the answer. */
  | "stored"
  /** Another worker cannot use its answer. */
  | "useless"
  | "not-shareable"
  | "failed"
  | "failed-by-origin"
  | "origin-disconnected"
  | "origin-busy";

const LETTERS: Readonly<Record<FetchNews, string>> = {
  stored: "s",
  useless: "u",
  "not-shareable": "n",
  failed: "f",
  "failed-by-origin": "o",
  "origin-disconnected": "d",
  "origin-busy": "b",
};
const NEWS = new Map(Object.entries(LETTERS).map(([news, letter]) => [letter, news as FetchNews]));

/** A line about the fetch with this lock. */
export function writeNews(lock: string, news: FetchNews): string {
  return `${LETTERS[news]}${lock}\n`;
}

/** `news`: `undefined` for a message of a later version. */
export function readNews(line: string): { readonly lock: string; readonly news: FetchNews | undefined } {
  return { lock: line.slice(1), news: NEWS.get(line[0]!) };
}

/** Calls back for each line in a stream of pieces of any size. */
export function byLines(onLine: (line: string) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) onLine(line);
  };
}
