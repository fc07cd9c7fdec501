/** The answer of `POST /_tidemark/session`, which begins a session of the dashboard. */
export interface OpenedSession {
  /** The name of the token. */
  readonly name: string;
  /** Whether the token may purge. The session itself may only read. */
  readonly mayPurge: boolean;
  /** Milliseconds until the session ends; `null` if there is none, because the edge has no secret to sign it with. */
  readonly endsInMs: number | null;
}
