/** The owner's tokens. */
export interface Tokens {
  /** Checks in constant time. `no-tokens`: no token is configured, so that no call is allowed. */
  check(token: string | null, scope: TokenScope): Promise<TokenVerdict>;
  /** Absent where the edge has no secret to sign them with: it knows only hashes of tokens, or no tokens. */
  readonly sessions?: Sessions;
}

/** Sessions of the dashboard. Each belongs to a token, may only read, and ends. */
export interface Sessions {
  /** `token` is one that may read. */
  open(token: string, now: number): Promise<{ readonly id: string; readonly endsAt: number }>;
  /**
   * The name of its token; `null` if there is no such session, if it is over, or if the owner has removed the token.
   */
  nameOf(id: string, now: number): Promise<string | null>;
}

/**
 * `parent` is for a cache that asks this one in place of the origin, and `door:NAME:ZONE` for the purge calls of another
 * vendor. Each is for nothing else.
 */
export type TokenScope = "purge" | "read" | "parent" | `door:${string}`;

export type TokenVerdict =
  | { readonly kind: "allowed"; readonly name: string }
  | {
      readonly kind: "refused";
      readonly because: "no-tokens" | "unauthorized" | "forbidden";
      /** For an owner who reads the answer: why the control plane is closed, without any token. */
      readonly why?: string;
    };
