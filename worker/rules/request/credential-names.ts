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
  "x-jfrog-art-api",
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

/** Tokens of a model's limits, of the next page of a list and of a profile are nobody's. */
const HANDED_OUT = /(?<!continuation-?|debug-|page-)token(?!s)|session|secret|jwt|\bauth(orization)?\b/;

/**
 * Whether the name of an answer's field, in lower case, says that it hands out what lets its visitor in. Of answers, keys,
 * users and signatures are ordinary.
 */
export function handsOutCredentials(name: string): boolean {
  return HANDED_OUT.test(name);
}
