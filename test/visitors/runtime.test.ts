import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byDepth } from "../suite/depth.ts";
import { drawn } from "../suite/drawn.ts";
import { cases } from "./index.ts";
import { testimony, truth, xCacheWithoutTrick } from "./meet.ts";
import { RuntimeMeetings } from "./runtime-meeting.ts";

const meetings = new RuntimeMeetings();

beforeAll(() => meetings.start());
afterAll(() => meetings.stop());

/** One case of so many is played here. */
const IN_ONE = byDepth({ test: 6, gate: 3, all: 1 });
const played = drawn("tricks in the runtime", cases, IN_ONE);

/** They are grouped by site rules, because the edge is started anew for each set of rules. */
const byRules = Object.values(Object.groupBy(played, ({ site }) => JSON.stringify(site ?? {}))).flatMap(
  (group) => group!,
);

describe("in the Workers runtime, over sockets", () => {
  test.each(byRules)("$name", async (each) => {
    expect(await testimony(each, meetings.meet)).toEqual(await truth(each, meetings.meet));
    expect(await xCacheWithoutTrick(each, meetings.meet)).toBe("HIT");
  });
});
