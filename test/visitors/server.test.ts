import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byDepth } from "../suite/depth.ts";
import type { Case } from "./case.ts";
import { cases } from "./index.ts";
import { testimony, truth, xCacheWithoutTrick } from "./meet.ts";
import { platformDifferences } from "./platform-differences.ts";
import { ServerMeetings, type ServerWay } from "./server-meeting.ts";

/** One case of several is played in each way but the fast one, unless all is tested. The plain way is that of all requests that are not plain. */
const NTH = byDepth({ test: 6, gate: 4, all: 1 });

/** Where the server refuses the first visitor, the case is about the second one alone. */
function asOnServer(each: Case, way: ServerWay): Case {
  const named = way === "http2" ? "http2" : "server";
  const isRefused = platformDifferences.some(({ platform, concerns }) => platform === named && concerns(each.first));
  return isRefused ? { ...each, witness: "second" } : each;
}

describe.each([
  { way: "fast" as const, played: cases },
  { way: "plain" as const, played: cases.filter((_, at) => at % NTH === 0) },
  { way: "tls" as const, played: cases.filter((_, at) => at % NTH === 1 % NTH) },
  { way: "http2" as const, played: cases.filter((_, at) => at % NTH === 2 % NTH) },
  { way: "tier" as const, played: cases.filter((_, at) => at % NTH === 3 % NTH) },
])("on one's own server, over sockets, the $way way", ({ way, played }) => {
  const meetings = new ServerMeetings(way);
  beforeAll(() => meetings.start());
  afterAll(() => meetings.stop());

  test.each(played)("$name", async (each) => {
    const onServer = asOnServer(each, way);
    expect(await testimony(onServer, meetings.meet)).toEqual(await truth(onServer, meetings.meet));
    const fastHits = meetings.fastHits;
    expect(await xCacheWithoutTrick(each, meetings.meet)).toBe("HIT");
    expect(meetings.fastHits - fastHits).toBe(way === "plain" || way === "http2" ? 0 : 1);
  });
});
