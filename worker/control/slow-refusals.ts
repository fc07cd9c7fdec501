import type { Clock, Reporter, Tokens } from "../ports.ts";

/** So many wrong tokens are answered at once: a person mistypes, a backend was given the old one. */
const AT_ONCE = 5;
/** The first late answer, in milliseconds; each further one takes twice as long, up to the most. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;
/** So long after the last wrong token all is forgotten. */
const FORGOTTEN_AFTER_MS = 60_000;

/**
 * Counts the wrong tokens of an isolate and answers them late. A right token is never late, or a stranger could keep the
 * owner out; nor is a request without any, which guesses nothing.
 */
export function slowRefusals(tokens: Tokens, clock: Clock, reporter: Reporter): Tokens {
  let wrong = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    async check(token, scope) {
      const verdict = await tokens.check(token, scope);
      if (token === null || verdict.kind === "allowed" || verdict.because !== "unauthorized") return verdict;
      reporter.report({ kind: "token-refused" });
      const now = clock.now();
      wrong = now - lastAt >= FORGOTTEN_AFTER_MS ? 1 : wrong + 1;
      lastAt = now;
      const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (wrong - AT_ONCE - 1));
      if (wrong > AT_ONCE) await clock.wait(delayMs).over;
      return verdict;
    },
  };
}
