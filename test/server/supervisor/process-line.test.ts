import { expect, test } from "vitest";
import { LineToSupervisor, SURVEY_WITHIN_MS } from "../../../server/supervisor/process-line.ts";
import { ManualClock } from "../../engine/memory/manual-clock.ts";

test("what a worker asks of a supervisor that has died fails at once, and so does what it asked before", async () => {
  let isAlive = true;
  const line = new LineToSupervisor(() => isAlive, new ManualClock(0));
  const before = line.ask("news");
  isAlive = false;
  const dead = "the supervisor has died";
  await expect(line.survey("machine")).rejects.toThrow(dead);
  await expect(before).rejects.toThrow(dead);
});

test("a survey that a hanging supervisor does not make fails in time, and the next one gets its own answer", async () => {
  const clock = new ManualClock(0);
  const numbers: number[] = [];
  const line = new LineToSupervisor((message) => {
    if (message.kind === "survey-asked") numbers.push(message.number);
    return true;
  }, clock);
  const outcome = (survey: Promise<unknown>) => survey.catch(({ message }: Error) => message);
  const first = outcome(line.survey("machine"));
  await clock.advance(SURVEY_WITHIN_MS - 1);
  const next = outcome(line.survey("machine"));
  await clock.advance(1);
  expect(await Promise.race([first, "no answer"])).toBe("the supervisor does not answer");
  for (const number of numbers) line.take({ kind: "answer", number, answer: `survey ${number}` });
  expect(await next).toBe("survey 2");
});
