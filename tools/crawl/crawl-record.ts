import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import type { PageAnswer } from "../requests/ask-page.ts";
import { CrawlError } from "../requests/crawl-error.ts";
import type { AnsweredBefore, CrawlOptions } from "./crawl-options.ts";

/** The options that two runs of one crawl have in common, besides their pages. */
interface Crawl {
  readonly edge: CrawlOptions["edge"];
  readonly origin: CrawlOptions["origin"];
  readonly from: readonly string[] | null;
  readonly host: CrawlOptions["host"];
}

interface Line {
  readonly round: string;
  readonly path: string;
  readonly answer: PageAnswer;
}

const VERSION = 1;

/** Answers in a file: a line that identifies the crawl, then a line for each answer as soon as it arrives. */
export class CrawlRecord implements AnsweredBefore {
  readonly #file: string;
  readonly #answers = new Map<string, PageAnswer>();

  /** Throws a `CrawlError` if the file is something else, or belongs to another crawl. */
  constructor(file: string, { edge, origin, from, host }: Crawl) {
    this.#file = file;
    const head = JSON.stringify({ tidemarkCrawl: VERSION, edge, origin, from, host });
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const [first = "", ...lines] = text.split("\n");
    if (text !== "" && !first.startsWith('{"tidemarkCrawl":')) {
      throw new CrawlError("usage", `${file} is not a record of a crawl. Name a file that does not exist yet.`);
    }
    if (text !== "" && first !== head) {
      const difference = "belongs to a crawl with another --edge, --origin, --from or --host, or by another version";
      throw new CrawlError("usage", `${file} ${difference}. Name another file, or delete this one.`);
    }
    for (const { round, path, answer } of lines.flatMap(lineOf)) this.#answers.set(keyOf(round, path), answer);
    if (text === "") appendFileSync(file, `${head}\n`);
    // A killed run may have left a part of a line.
    else if (!text.endsWith("\n")) appendFileSync(file, "\n");
  }

  answerTo(round: string, path: string): PageAnswer | undefined {
    return this.#answers.get(keyOf(round, path));
  }

  note(round: string, path: string, answer: PageAnswer): void {
    appendFileSync(this.#file, `${JSON.stringify({ round, path, answer } satisfies Line)}\n`);
  }

  /** Removes the file, because the crawl is complete: the next one starts from the beginning. */
  end(): void {
    rmSync(this.#file, { force: true });
  }
}

function keyOf(round: string, path: string): string {
  return `${round} ${path}`;
}

function lineOf(text: string): readonly Line[] {
  try {
    return [JSON.parse(text) as Line];
  } catch {
    return []; // A part of a line: its page is requested again.
  }
}
