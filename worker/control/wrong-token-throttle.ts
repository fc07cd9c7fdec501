import type { Clock, Reporter, Tokens } from "../ports.ts";

/** The wrong tokens that are refused without delay: a person mistypes, a backend was given the old token. */
const PROMPT_REFUSALS = 5;
/** The delay of the first late refusal. Each further one takes twice as long, up to the maximum. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;
/** This long after the last wrong token, refusals are prompt again. */
const RESET_AFTER_MS = 60_000;

/**
 * Counts wrong tokens, and refuses further ones with a delay. A right token is never delayed, or a stranger could keep
 * the owner out; nor is a request without a token, because it guesses nothing.
 */
export function throttleWrongTokens(tokens: Tokens, clock: Clock, reporter: Reporter): Tokens {
  let wrong = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    async check(token, scope) {
      const verdict = await tokens.check(token, scope);
      if (token === null || verdict.kind === "allowed" || verdict.because !== "unauthorized") return verdict;
      reporter.report({ kind: "token-refused" });
      const now = clock.now();
      wrong = now - lastAt >= RESET_AFTER_MS ? 1 : wrong + 1;
      lastAt = now;
      const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (wrong - PROMPT_REFUSALS - 1));
      if (wrong > PROMPT_REFUSALS) await clock.wait(delayMs).over;
      return verdict;
    },
  };
}
