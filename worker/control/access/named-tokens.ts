import * as z from "zod/mini";
import { IN_ENGLISH } from "../../../wire/text/english.ts";
import { issuePath } from "../../../wire/text/issue-path.ts";
import { closedLine, type KnownToken, type TokenSettings, weaknessOf } from "./tokens.ts";

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

/** Reads `TIDEMARK_TOKENS`. Throws an error in words for the owner if it is no such list. */
export function readNamedTokens(text: string): KnownToken[] {
  const checked = namedTokensSchema.safeParse(parseJson(text), IN_ENGLISH);
  if (!checked.success) {
    const faults = checked.error.issues.map(({ path, message }) => `${issuePath(path)} ${message}`.trim());
    throw new Error(`TIDEMARK_TOKENS is not a JSON list of {name, scopes, sha256}: ${faults.join("; ")}.`);
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
    return text; // The schema then reports that a text is not a list.
  }
}

/** Why the control plane stays closed, as a line for the owner's log; `null` if it does not. */
export function whyClosed(settings: TokenSettings): string | null {
  const weakness = weaknessOf(settings);
  if (weakness !== null) return closedLine(`${weakness}.`);
  try {
    if (settings.TIDEMARK_TOKENS) readNamedTokens(settings.TIDEMARK_TOKENS);
    return null;
  } catch (error) {
    return closedLine((error as Error).message);
  }
}
