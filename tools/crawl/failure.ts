import type { PageAnswer } from "../requests/ask-page.ts";

/** Why a page's request failed; `null` if it succeeded or was not sent. */
export function failureOf(answer: PageAnswer | null): string | null {
  if (answer === null) return null;
  if (answer.kind === "failed") return answer.because;
  return answer.status >= 400 ? `it answered ${answer.status}` : null;
}
