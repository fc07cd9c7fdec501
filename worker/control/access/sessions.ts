import type { Sessions } from "../../ports/access.ts";
import { sha256 } from "./fingerprint.ts";

/** What the edge knows about a token that may read. */
export interface ReadingToken {
  readonly name: string;
  readonly sha256: Uint8Array;
}

/** How long a session lasts. */
const SESSION_MS = 12 * 3_600_000;

/**
 * Sessions that no isolate has to remember. The id is the second at which the session ends, with an HMAC (RFC 2104)
 * over that second and the hash of the token. So a session is valid in every isolate, and ends when its token is
 * removed or the secret is replaced. The secret is the key of the HMAC, because the hash of the token is not secret.
 */
export function signedSessions(secret: string, readingTokens: () => Promise<readonly ReadingToken[]>): Sessions {
  let key: ReturnType<typeof crypto.subtle.importKey> | undefined;
  const loadKey = () => {
    key ??= crypto.subtle.importKey("raw", bytesOf(secret), HMAC, false, ["sign", "verify"]);
    return key;
  };
  return {
    async open(token, now) {
      const ends = Math.floor((now + SESSION_MS) / 1000);
      const code = await crypto.subtle.sign(HMAC, await loadKey(), signedPart(ends, await sha256(token)));
      const text = btoa(String.fromCharCode(...new Uint8Array(code)));
      return { id: `${ends}.${text.replaceAll("+", "-").replaceAll("/", "_").replace("=", "")}`, endsAt: ends * 1000 };
    },
    async nameOf(id, now) {
      const [, ends, text] = /^(\d{1,12})\.([\w-]{43})$/.exec(id) ?? [];
      if (text === undefined || Number(ends) * 1000 <= now) return null;
      const code = bytesOfCode(text);
      const tokens = await readingTokens();
      const matches = await Promise.all(
        tokens.map(async ({ sha256 }) =>
          crypto.subtle.verify(HMAC, await loadKey(), code, signedPart(Number(ends), sha256)),
        ),
      );
      return tokens[matches.indexOf(true)]?.name ?? null;
    },
  };
}

const HMAC = { name: "HMAC", hash: "SHA-256" } as const;

/** It begins with its purpose, so that nothing else that the secret may sign is a session. */
function signedPart(ends: number, sha256: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...bytesOf(`tidemark-session ${ends} `), ...sha256]);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

function bytesOfCode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}
