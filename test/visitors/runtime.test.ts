import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Case } from "./case.ts";
import { cases } from "./index.ts";
import { testimony, truth, xCacheWithoutTrick } from "./meetings/meet.ts";
import { RuntimeMeetings } from "./meetings/runtime-meeting.ts";

const meetings = new RuntimeMeetings();

beforeAll(() => meetings.start());
afterAll(() => meetings.stop());

/** They are grouped by site rules, because the edge is started anew for each set of rules. */
const byRules = Object.values(Object.groupBy(cases, ({ site }) => JSON.stringify(site ?? {}))) as Case[][];
/** The gate plays those of the rules that most cases have: one start of the edge. */
const most = Math.max(...byRules.map(({ length }) => length));
const [inTheGate, others] = [true, false].map((isMost) =>
  byRules.filter(({ length }) => (length === most) === isMost).flat(),
) as [Case[], Case[]];

describe("in the Workers runtime, over sockets", () => {
  const playsOut = async (each: Case) => {
    expect(await testimony(each, meetings.meet)).toEqual(await truth(each, meetings.meet));
    expect(await xCacheWithoutTrick(each, meetings.meet)).toBe("HIT");
  };
  test.each(inTheGate)("$name", { tags: ["gate"] }, playsOut);
  test.each(others)("$name", { tags: ["deep"] }, playsOut);
});
