/** What an isolate knows of its origin, for others that ask the same one. Plain data. */
export interface OriginNews {
  /** Paths without an answer since the last one, and when they were asked for: epoch milliseconds. None: it has answered. */
  readonly failed: readonly (readonly [path: string, sentAt: number])[];
  /** When the latest of them failed, or when the answer came: epoch milliseconds. */
  readonly at: number;
  /** When somebody last asked whether it is back: epoch milliseconds. */
  readonly askedAt: number;
}

/** Isolates that ask one origin and tell each other how it is. */
export interface OriginTalk {
  tell(news: OriginNews): void;
  /** What is called with the news of another isolate. */
  onNews: (news: OriginNews) => void;
}
