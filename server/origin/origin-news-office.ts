import { randomUUID } from "node:crypto";
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

type SessionMessage = Extract<OriginMessage, { kind: "session-set" }>;

/** What a successor has to know of sessions. Plain data. */
export interface ToldSessions {
  /** The secret of their hashes. */
  readonly secret: string;
  /** The oldest first. */
  readonly messages: readonly SessionMessage[];
}

/** A worker that starts is told of a session for so long: milliseconds. */
const KEPT_MS = 86_400_000;
/** And of so many of each origin. */
const MOST_KEPT = 1 << 14;

/**
 * Passes on what the workers of this machine know of the origins. For a worker that does not ask, only the latest news of
 * each other worker and origin are kept, and all sessions. One that starts is told of the sessions of the last day.
 */
export class OriginNewsOffice implements WorkerService {
  readonly #boxes = new Set<Mail<Letter>>();
  /** By their origins; the oldest first. */
  readonly #sessions = new Map<string, Set<SessionMessage>>();
  readonly #now: () => number;
  #secret: string = randomUUID();

  /** `now`: epoch milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** For the hashes of all sessions. */
  get secret(): string {
    return this.#secret;
  }

  /** What a successor takes over. */
  get sessions(): ToldSessions {
    const since = this.#now() - KEPT_MS;
    for (const [origin, kept] of this.#sessions) {
      for (const message of kept) if (message.session.at < since) kept.delete(message);
      if (kept.size === 0) this.#sessions.delete(origin);
    }
    return { secret: this.#secret, messages: [...this.#sessions.values()].flatMap((kept) => [...kept]) };
  }

  /** Takes over from a predecessor, before any worker starts. */
  takeOver({ secret, messages }: ToldSessions): void {
    this.#secret = secret;
    for (const message of messages) this.#keep(message);
  }

  connect(): ServedWorker {
    const box = new Mail<Letter>();
    for (const message of this.sessions.messages) box.tell({ from: this, message });
    this.#boxes.add(box);
    return {
      ask: async () => (await box.next()).map(({ message }) => message),
      tell: (message) => {
        if (!isOriginMessage(message)) return;
        if (message.kind === "session-set") this.#keep(message);
        this.#passOn({ from: box, message });
      },
      close: () => void this.#boxes.delete(box),
    };
  }

  #keep(message: SessionMessage): void {
    const { origin } = message;
    const kept = this.#sessions.get(origin) ?? new Set();
    this.#sessions.set(origin, kept.add(message));
    if (kept.size > MOST_KEPT) for (const oldest of kept) return void kept.delete(oldest);
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
