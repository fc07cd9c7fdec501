/** What an isolate knows of its origin, for others that ask the same one. Plain data. */
export interface OriginNews {
  /** Paths without an answer since the last one, and when they were asked for: epoch milliseconds. None: it has answered. */
  readonly failed: readonly (readonly [path: string, sentAt: number])[];
  /** When the latest of them failed, or when the answer came: epoch milliseconds. */
  readonly at: number;
  /** When somebody last asked whether it is back: epoch milliseconds. */
  readonly askedAt: number;
}

/** A cookie that the origin has set as a client's session. Plain data. */
export interface SetSession {
  /** `name=value`. */
  readonly cookie: string;
  /** The cookie of the same name that the request had; `null` for none. */
  readonly replaces: string | null;
  readonly clientAddress: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Isolates that ask one origin and tell each other how it is, and which sessions it sets. */
export interface OriginTalk {
  tell(news: OriginNews): void;
  tellSession(session: SetSession): void;
  /** Called with the news of another isolate. */
  onNews: (news: OriginNews) => void;
  onSession: (session: SetSession) => void;
}
