import type { Tokens, TokenVerdict } from "../../ports/access.ts";
import { sha256 } from "./fingerprint.ts";
import { signedSessions } from "./sessions.ts";

/** A token of which only its hash is known. */
export interface KnownToken {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly sha256: Uint8Array;
}

/** The settings that define the tokens. */
export interface TokenSettings {
  /** One token that may purge and read. */
  readonly TIDEMARK_TOKEN?: string | undefined;
  /** JSON: `[{name, scopes, sha256}]`. */
  readonly TIDEMARK_TOKENS?: string | undefined;
  /**
   * True on a developer's machine, where tokens protect nothing. This is not an environment variable, so that no
   * setting can open a deployed edge.
   */
  readonly acceptsWeakTokens?: boolean | undefined;
}

/** The line about it for the owner's log. */
export function closedLine(why: string): string {
  return `${why} The control plane stays closed until this is corrected. Pages are served.`;
}

const MIN_CHARACTERS = 32;
/** Thirty-two random characters almost always contain more distinct characters than this. */
const MIN_DIFFERENT = 10;
/** What `bearerToken` reads. */
const SENDABLE = /^[!-~]+$/;

/** The reason why a token could be guessed, or cannot be sent; `null` if there is none. */
export function tokenWeakness(token: string): string | null {
  const how = "make one with: openssl rand -base64 32";
  if (token.length < MIN_CHARACTERS) return `has fewer than ${MIN_CHARACTERS} characters: ${how}`;
  if (!SENDABLE.test(token)) return `has characters that cannot be sent: ${how}`;
  return new Set(token).size < MIN_DIFFERENT ? `is not random: ${how}` : null;
}

/** `TIDEMARK_TOKEN` without the line end that a secret from a file may have, as a text even if it is a number in JSON. */
export function singleToken({ TIDEMARK_TOKEN }: TokenSettings): string {
  return String(TIDEMARK_TOKEN ?? "").trim();
}

/** What is wrong with `TIDEMARK_TOKEN`, as in `tokenWeakness`; `null` if nothing is, or it need not be safe. */
export function weaknessOf(settings: TokenSettings): string | null {
  const token = singleToken(settings);
  const weakness = token && !settings.acceptsWeakTokens ? tokenWeakness(token) : null;
  return weakness === null ? null : `TIDEMARK_TOKEN is weak: it ${weakness}`;
}

/**
 * The owner's tokens. The control plane refuses every call in three cases: if there are no tokens; if `TIDEMARK_TOKENS`
 * cannot be read, because a partly read list would lock somebody out silently; and if `TIDEMARK_TOKEN` could be
 * guessed. A hash in the list does not show whether its token could be guessed. Requests for pages are served in any
 * case. `readNamed` is `readNamedTokens`, which is called when somebody first shows a token. `warn` gets a line for the
 * owner's log.
 */
export function configuredTokens(
  settings: TokenSettings,
  warn: (line: string) => void,
  readNamed: (text: string) => readonly KnownToken[] | Promise<readonly KnownToken[]>,
): Tokens {
  const single = singleToken(settings);
  const list = settings.TIDEMARK_TOKENS;
  const why = weaknessOf(settings);
  if (why !== null) {
    warn(closedLine(`${why}.`));
    return { check: async () => ({ kind: "refused", because: "no-tokens", why }) };
  }
  const known = async (): Promise<readonly KnownToken[]> => {
    const named = list ? await readNamed(list) : [];
    return single
      ? [...named, { name: "TIDEMARK_TOKEN", scopes: ["purge", "read"], sha256: await sha256(single) }]
      : named;
  };
  let loading: Promise<readonly KnownToken[] | null> | undefined;
  /** `null` if the list cannot be read. */
  const load = () => {
    loading ??= known().catch((error: Error) => {
      warn(closedLine(error.message));
      return null;
    });
    return loading;
  };
  const readers = async () => ((await load()) ?? []).filter(({ scopes }) => scopes.includes("read"));
  return {
    ...(single && { sessions: signedSessions(single, readers) }),
    async check(token, scope): Promise<TokenVerdict> {
      const loaded = await load();
      if (loaded === null) return { kind: "refused", because: "no-tokens", why: "TIDEMARK_TOKENS cannot be read" };
      if (loaded.length === 0) return { kind: "refused", because: "no-tokens", why: "TIDEMARK_TOKEN is not set" };
      if (token === null) return { kind: "refused", because: "unauthorized" };
      const given = await sha256(token);
      // Every hash is compared to its end, so that the time does not reveal which one matched, or how much of it.
      const matching = loaded.filter((each) => equalBytes(each.sha256, given));
      if (matching.length === 0) return { kind: "refused", because: "unauthorized" };
      const allowed = matching.find((each) => each.scopes.includes(scope));
      return allowed ? { kind: "allowed", name: allowed.name } : { kind: "refused", because: "forbidden" };
    },
  };
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index++) difference |= a[index]! ^ (b[index] ?? 0);
  return difference === 0;
}

/** The token of `Authorization: Bearer …`; `null` for none. RFC 6750 §2.1, with any visible character. */
export function bearerToken(authorization: string | null): string | null {
  return /^Bearer +([!-~]+) *$/i.exec(authorization ?? "")?.[1] ?? null;
}
