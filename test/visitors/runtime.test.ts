import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cases } from "./index.ts";
import { testimony, truth, xCacheWithoutTrick } from "./meetings/meet.ts";
import { RuntimeMeetings } from "./meetings/runtime-meeting.ts";

const meetings = new RuntimeMeetings();

beforeAll(() => meetings.start());
afterAll(() => meetings.stop());

/** They are grouped by site rules, because the edge is started anew for each set of rules. */
const byRules = Object.values(Object.groupBy(cases, ({ site }) => JSON.stringify(site ?? {}))).flatMap(
  (group) => group!,
);

describe("in the Workers runtime, over sockets", { tags: ["gate"] }, () => {
  test.each(byRules)("$name", async (each) => {
    expect(await testimony(each, meetings.meet)).toEqual(await truth(each, meetings.meet));
    expect(await xCacheWithoutTrick(each, meetings.meet)).toBe("HIT");
  });
});
