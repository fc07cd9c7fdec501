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
  /** A hash of the cookie, with the secret of those who talk. */
  readonly mark: number;
  /** That of the cookie of the same name that the request had; `null` for none. */
  readonly replaces: number | null;
  /** A hash of the client's network. */
  readonly network: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Isolates that ask one origin and tell each other how it is, and which sessions it sets. */
export interface OriginTalk {
  /** The same for all of them, and known to nobody else. Default: each has its own, and cannot use what others tell of sessions. */
  readonly secret?: string | undefined;
  tell(news: OriginNews): void;
  tellSession(session: SetSession): void;
  /** Called with the news of another isolate. */
  onNews: (news: OriginNews) => void;
  onSession: (session: SetSession) => void;
}
