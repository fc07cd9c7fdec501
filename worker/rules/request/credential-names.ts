/** Parts of names under which applications send what tells one visitor from another, or lets one in. */
const WORDS = [
  "key",
  "token",
  "auth",
  "session",
  "signature",
  "user",
  "cookie",
  "secret",
  "password",
  "credential",
  "jwt",
] as const;

/** Fields of usual clients whose names speak of credentials, and whose values do not: npm says how it would log in. */
const WITHOUT = ["user-agent", "x-amz-user-agent", "npm-auth-type"];

/**
 * Whether the name of a field, in lower case, speaks of credentials: what an origin answers to such a field may be for
 * one visitor. `Author` and `Keyword` count, too: in doubt the answer is nobody else's.
 */
export function speaksOfCredentials(name: string): boolean {
  return !WITHOUT.includes(name) && WORDS.some((word) => name.includes(word));
}
