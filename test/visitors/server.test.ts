import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Case } from "./case.ts";
import { cases } from "./index.ts";
import { testimony, truth, xCacheWithoutTrick } from "./meetings/meet.ts";
import { platformDifferences } from "./meetings/platform-differences.ts";
import { ServerMeetings, type ServerWay } from "./meetings/server-meeting.ts";

/** Where the server refuses the first visitor, the case is about the second one alone. */
function asOnServer(each: Case, way: ServerWay): Case {
  const named = way === "http2" ? "http2" : "server";
  const isRefused = platformDifferences.some(({ platform, concerns }) => platform === named && concerns(each.first));
  return isRefused ? { ...each, witness: "second" } : each;
}

/** One in so many cases is played in the gate, which plays all of them in memory: only the platform is another. */
const OVER_HTTP1 = 6;
const OVER_HTTP2 = 24;

/** The plain way is that of all requests that are not plain. */
describe.each<{ way: ServerWay; inTheGate: (at: number) => boolean }>([
  { way: "fast", inTheGate: (at) => at % OVER_HTTP1 === 0 },
  { way: "plain", inTheGate: () => false },
  { way: "tls", inTheGate: () => false },
  { way: "http2", inTheGate: (at) => at % OVER_HTTP2 === 0 },
  { way: "tier", inTheGate: () => false },
])("on one's own server, over sockets, the $way way", ({ way, inTheGate }) => {
  const meetings = new ServerMeetings(way);
  beforeAll(() => meetings.start());
  afterAll(() => meetings.stop());

  const playsOut = async (each: Case) => {
    const onServer = asOnServer(each, way);
    expect(await testimony(onServer, meetings.meet)).toEqual(await truth(onServer, meetings.meet));
    const fastHits = meetings.fastHits;
    expect(await xCacheWithoutTrick(each, meetings.meet)).toBe("HIT");
    expect(meetings.fastHits - fastHits).toBe(way === "plain" || way === "http2" ? 0 : 1);
  };

  test.each(cases.filter((_, at) => inTheGate(at)))("$name", { tags: ["gate"] }, playsOut);
  test.each(cases.filter((_, at) => !inTheGate(at)))("$name", { tags: ["deep"] }, playsOut);
});
