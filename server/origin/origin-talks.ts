import type { OriginTalk } from "../../worker/ports/origin-news.ts";
import { hearNews, type ProcessLine } from "../supervisor/process-line.ts";
import { ASKS_FOR_ORIGIN_NEWS, type OriginMessage } from "./origin-news-office.ts";

/** What the sites of a worker tell the other workers of their origins, and hear from them, by way of the supervisor. */
export class OriginTalks {
  readonly #line: ProcessLine;
  readonly #secret: string | undefined;
  readonly #talks = new Map<string, OriginTalk>();

  /** `secret`: that of all workers of the machine. */
  constructor(line: ProcessLine, secret: string | undefined) {
    this.#line = line;
    this.#secret = secret;
  }

  /** `origin`: a text that is the same in all workers that ask this origin, and in no others. */
  of(origin: string): OriginTalk {
    const talk: OriginTalk = {
      secret: this.#secret,
      tell: (news) => this.#tell({ kind: "origin-news", origin, news }),
      tellSession: (session) => this.#tell({ kind: "session-set", origin, session }),
      onNews: () => undefined,
      onSession: () => undefined,
    };
    if (this.#talks.size === 0) void hearNews(this.#line, ASKS_FOR_ORIGIN_NEWS, this.#hear);
    this.#talks.set(origin, talk);
    return talk;
  }

  #tell(message: OriginMessage): void {
    this.#line.tell(message);
  }

  readonly #hear = (messages: readonly OriginMessage[]): void => {
    for (const message of messages) {
      const talk = this.#talks.get(message.origin);
      if (message.kind === "origin-news") talk?.onNews(message.news);
      else talk?.onSession(message.session);
    }
  };
}
