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
/** The gate plays one in eight of those of the rules that most cases have: one start of the edge. */
const IN_THE_GATE = 8;
const most = byRules.reduce((one, other) => (other.length > one.length ? other : one));
const inTheGate = most.filter((_, at) => at % IN_THE_GATE === 0);
const others = byRules.flat().filter((each) => !inTheGate.includes(each));

describe("in the Workers runtime, over sockets", () => {
  const playsOut = async (each: Case) => {
    expect(await testimony(each, meetings.meet)).toEqual(await truth(each, meetings.meet));
    expect(await xCacheWithoutTrick(each, meetings.meet)).toBe("HIT");
  };
  test.each(inTheGate)("$name", { tags: ["gate"] }, playsOut);
  test.each(others)("$name", { tags: ["deep"] }, playsOut);
});
