/** The answer of `POST /_tidemark/session`, which begins a session of the dashboard. */
export interface OpenedSession {
  /** The name of the token. */
  readonly name: string;
  /** Whether the token may purge. The session itself may only read. */
  readonly mayPurge: boolean;
  /** RFC 3339, UTC. `null` if there is no session, because the edge has no secret to sign it with. */
  readonly endsAt: string | null;
}
