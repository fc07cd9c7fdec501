import type { Tokens } from "../../ports/access.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Reporter } from "../../ports/reporter.ts";

/**
 * The number of wrong tokens that are refused without delay, for typing errors and for backends that still use an old
 * token.
 */
const PROMPT_REFUSALS = 5;
/** The delay of the first late refusal. It doubles with each further refusal, up to the maximum. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;
/** Refusals are prompt again when this much time has passed since the last wrong token. */
const RESET_AFTER_MS = 60_000;

/**
 * Counts wrong tokens, and delays the refusal of further ones. A correct token is never delayed, because a stranger
 * could otherwise keep the owner out. A request without a token is not delayed either, because it guesses nothing.
 */
export function throttleWrongTokens(tokens: Tokens, clock: Clock, reporter: Reporter): Tokens {
  let wrong = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    ...tokens,
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
