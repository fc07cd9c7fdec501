import fc from "fast-check";
import { shortened } from "../../engine/shortened.ts";
import type { RawMeetings } from "./raw-meetings.ts";
import { rawMessage } from "./raw-messages.ts";

/** The number of visitors who write to their connections at the same time. */
const AT_ONCE = 8;

const messages = fc.array(rawMessage, { minLength: AT_ONCE, maxLength: AT_ONCE });

export interface RawFuzz {
  readonly seed: number;
  /** The number of messages, rounded up to whole rounds. */
  readonly count: number;
  /** The path that was reported with a finding, from which to begin. */
  readonly path?: string;
}

/**
 * Sends messages until something goes wrong. Resolves to a description with the shortest bytes that cause it, or to
 * `null`.
 */
export async function findHarm(meetings: RawMeetings, { seed, count, path = "" }: RawFuzz): Promise<string | null> {
  let harmful: readonly string[] = [];
  let harm: string | null = null;
  const property = fc.asyncProperty(messages, async (round) => {
    harmful = round;
    harm = await meetings.wrongWith(round);
    return harm === null;
  });
  const result = await fc.check(property, { seed, path, numRuns: Math.ceil(count / AT_ONCE), endOnFailure: true });
  if (!result.failed) return null;
  const isWrong = async (round: readonly string[]) => {
    const wrong = await meetings.wrongWith(round);
    harm = wrong ?? harm;
    return wrong !== null;
  };
  const few = await shortened(harmful, isWrong);
  const short = few.length > 1 ? few : [await shortenedText(few[0]!, isWrong)];
  return [`seed ${seed}, path ${result.counterexamplePath}`, ...short.map(escaped), harm].join("\n");
}

async function shortenedText(text: string, isWrong: (round: readonly string[]) => Promise<boolean>): Promise<string> {
  return (await shortened([...text], (characters) => isWrong([characters.join("")]))).join("");
}

/** The bytes as a string literal of a source file. */
function escaped(bytes: string): string {
  const code = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(bytes).replaceAll(/[\x7f-\xff]/g, code);
}
