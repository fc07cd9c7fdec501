import { membersOf } from "../../worker/rules/fields/list-members.ts";

/** A parameter of a challenge; a challenge has its scheme before the first one. */
const PARAMETER = /^[\t ]*[!#$%&'*+.^_`|~\w-]+[\t ]*=/;

/**
 * The challenges of a `WWW-Authenticate`, for a line each: Chromium reads only the first one of a line. RFC 9110 §11.3,
 * §11.6.1.
 */
export function challengesIn(text: string): string[] {
  const challenges: string[] = [];
  for (const part of membersOf(text)) {
    const last = challenges.length - 1;
    if (last >= 0 && PARAMETER.test(part)) challenges[last] += `,${part}`;
    else if (part.trim() !== "") challenges.push(part);
  }
  return challenges.map((challenge) => challenge.trim());
}
