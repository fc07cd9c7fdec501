import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cases } from "./index.ts";
import { testimony, truth, xCacheWithoutTrick } from "./meet.ts";
import { ServerMeetings } from "./server-meeting.ts";

describe.each(["fast", "plain"] as const)("on one's own server, over sockets, the %s way", (way) => {
  const meetings = new ServerMeetings(way);
  beforeAll(() => meetings.start());
  afterAll(() => meetings.stop());

  test.each(cases)("$name", async (each) => {
    expect(await testimony(each, meetings.meet)).toEqual(await truth(each, meetings.meet));
    const fastHits = meetings.fastHits;
    expect(await xCacheWithoutTrick(each, meetings.meet)).toBe("HIT");
    expect(meetings.fastHits - fastHits).toBe(way === "fast" ? 1 : 0);
  });
});
