import type { OriginNews, SetSession } from "../../worker/ports/origin-news.ts";
import { Mail } from "../supervisor/mail.ts";
import type { ServedWorker, WorkerService } from "../supervisor/process-line.ts";

/**
 * What a worker tells of an origin, for those of the same `origin`: workers of old settings may ask another one. Plain
 * data.
 */
export type OriginMessage = { readonly origin: string } & (
  | { readonly kind: "origin-news"; readonly news: OriginNews }
  | { readonly kind: "session-set"; readonly session: SetSession }
);

/** The question by which a worker waits for what the others tell. */
export const ASKS_FOR_ORIGIN_NEWS = "origin-news";

export function isOriginMessage(message: unknown): message is OriginMessage {
  const kind = (message as { readonly kind?: unknown } | null)?.kind;
  return kind === "origin-news" || kind === "session-set";
}

interface Letter {
  readonly from: object;
  readonly message: OriginMessage;
}

/**
 * Passes on what the workers of this machine know of the origins. For a worker that does not ask, only the latest news of
 * each other worker and origin are kept, and all sessions.
 */
export class OriginNewsOffice implements WorkerService {
  readonly #boxes = new Set<Mail<Letter>>();

  connect(): ServedWorker {
    const box = new Mail<Letter>();
    this.#boxes.add(box);
    return {
      ask: async () => (await box.next()).map(({ message }) => message),
      tell: (message) => {
        if (isOriginMessage(message)) this.#passOn({ from: box, message });
      },
      close: () => void this.#boxes.delete(box),
    };
  }

  #passOn(letter: Letter): void {
    const { from, message } = letter;
    const isOutdated = (earlier: Letter) =>
      message.kind === "origin-news" &&
      earlier.message.kind === "origin-news" &&
      earlier.from === from &&
      earlier.message.origin === message.origin;
    for (const box of this.#boxes) if (box !== from) box.tell(letter, isOutdated);
  }
}
