import * as z from "zod/mini";
import { IN_ENGLISH } from "../../../wire/text/english.ts";
import { issuePath } from "../../../wire/text/issue-path.ts";
import type { Tokens, TokenVerdict } from "../../ports/access.ts";
import { signedSessions } from "./sessions.ts";

const hex = z.string().check(z.regex(/^[0-9a-f]{64}$/i, "is not a SHA-256 in 64 hexadecimal digits"));

/** A token for a door is bound to it and to its zone; Varnish has no zones. `parent` is for the children of this edge. */
const scope = z
  .string()
  .check(
    z.regex(
      /^(?:purge|read|parent|door:(?:varnish|(?:cloudflare|fastly|keycdn|netlify|vercel):[\w.-]+))$/,
      'is not a scope: write "purge", "read", "parent", or a door with its zone, like "door:cloudflare:ZONE"',
    ),
  );

/** `TIDEMARK_TOKENS`: named tokens, stored as hashes, so that nobody who reads the setting can use them. */
const namedTokensSchema = z.array(
  z.strictObject({
    name: z.string().check(z.minLength(1)),
    scopes: z.array(scope).check(z.minLength(1)),
    sha256: hex,
  }),
);

interface KnownToken {
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

const CLOSED = "The control plane stays closed until this is corrected. Pages are served.";

const MIN_CHARACTERS = 32;
/** Thirty-two random characters almost always contain more distinct characters than this. */
const MIN_DIFFERENT = 10;

/** The reason why a token could be guessed; `null` if it could not be. */
export function tokenWeakness(token: string): string | null {
  const how = "make one with: openssl rand -base64 32";
  if (token.length < MIN_CHARACTERS) return `has fewer than ${MIN_CHARACTERS} characters: ${how}`;
  return new Set(token).size < MIN_DIFFERENT ? `is not random: ${how}` : null;
}

/**
 * The owner's tokens. The control plane refuses every call in three cases: if there are no tokens; if `TIDEMARK_TOKENS`
 * cannot be read, because a partly read list would lock somebody out silently; and if `TIDEMARK_TOKEN` could be
 * guessed. A hash in the list does not show whether its token could be guessed. Requests for pages are served in any
 * case. `warn` gets a line for the owner's log.
 */
export function configuredTokens(settings: TokenSettings, warn: (line: string) => void): Tokens {
  const single = settings.TIDEMARK_TOKEN;
  const weakness = single && !settings.acceptsWeakTokens ? tokenWeakness(single) : null;
  if (weakness !== null) {
    const why = `TIDEMARK_TOKEN is weak: it ${weakness}`;
    warn(`${why}. ${CLOSED}`);
    return { check: async () => ({ kind: "refused", because: "no-tokens", why }) };
  }
  let named: KnownToken[];
  try {
    named = namedTokens(settings.TIDEMARK_TOKENS);
  } catch (error) {
    warn(`${(error as Error).message} ${CLOSED}`);
    return { check: async () => ({ kind: "refused", because: "no-tokens", why: "TIDEMARK_TOKENS cannot be read" }) };
  }
  const known = async (): Promise<KnownToken[]> =>
    single ? [...named, { name: "TIDEMARK_TOKEN", scopes: ["purge", "read"], sha256: await sha256(single) }] : named;
  let loading: Promise<KnownToken[]> | undefined;
  const load = () => {
    loading ??= known();
    return loading;
  };
  const readers = async () => (await load()).filter(({ scopes }) => scopes.includes("read"));
  return {
    ...(single && { sessions: signedSessions(single, readers) }),
    async check(token, scope): Promise<TokenVerdict> {
      const loaded = await load();
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

function namedTokens(text: string | undefined): KnownToken[] {
  if (!text) return [];
  const checked = namedTokensSchema.safeParse(parseJson(text), IN_ENGLISH);
  if (!checked.success) {
    const faults = checked.error.issues.map(({ path, message }) => `${issuePath(path)} ${message}`.trim());
    throw new Error(`TIDEMARK_TOKENS is not a JSON list of {name, scopes, sha256}: ${faults.join("; ")}`);
  }
  return checked.data.map(({ name, scopes, sha256: digits }) => ({
    name,
    scopes,
    sha256: Uint8Array.from(digits.match(/../g)!, (pair) => Number.parseInt(pair, 16)),
  }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The schema then reports that this is not a list.
  }
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
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
