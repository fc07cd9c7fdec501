import type { Fate } from "../fate.ts";

/** A reply that nobody waits for any longer: milliseconds. */
const GIVEN_UP_MS = 30_000;

/** Who is called. */
export interface Called<T> {
  /** Whether it cannot be reached now. */
  isSilent(): boolean;
  work(): T | Promise<T>;
  /** What happens if the message comes a second time. Default: no message does. */
  again?(): void;
  /** After this time, the caller gives a call up that nobody answers: milliseconds. Default: 30 s. */
  readonly givenUpMs?: number;
}

/** A call over a network that is late both ways, loses messages and replies, and repeats messages. */
export async function callLate<T>(fate: Fate, { isSilent, work, again, givenUpMs }: Called<T>): Promise<T> {
  await fate.onTheWay(120);
  if (isSilent()) throw new Error("silent");
  if (fate.happens("lost messages to the log", 0.03)) throw new Error("lost");
  const reply = await work();
  const isRepeated = fate.chance(0.03) && again !== undefined;
  fate.count("repeated messages to the log", isRepeated);
  if (isRepeated) void fate.delay(2000).then(again);
  if (fate.happens("replies of the log that never came", 0.01)) {
    await fate.scheduler.wait(givenUpMs ?? GIVEN_UP_MS).over;
    throw new Error("given up");
  }
  await fate.onTheWay(fate.pick([50, 50, 50, 1500]));
  if (fate.happens("lost replies of the log", 0.05)) throw new Error("lost");
  return reply;
}
