import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byDepth } from "../suite/depth.ts";
import { drawn } from "../suite/drawn.ts";
import type { Case } from "./case.ts";
import { cases } from "./index.ts";
import { testimony, truth, xCacheWithoutTrick } from "./meet.ts";
import { platformDifferences } from "./platform-differences.ts";
import { ServerMeetings, type ServerWay } from "./server-meeting.ts";

/** One case of so many is played in each way. The plain way is that of all requests that are not plain. */
const FAST = byDepth({ test: 6, gate: 2, all: 1 });
const OTHERS = byDepth({ test: 12, gate: 6, all: 1 });

/** Where the server refuses the first visitor, the case is about the second one alone. */
function asOnServer(each: Case, way: ServerWay): Case {
  const named = way === "http2" ? "http2" : "server";
  const isRefused = platformDifferences.some(({ platform, concerns }) => platform === named && concerns(each.first));
  return isRefused ? { ...each, witness: "second" } : each;
}

describe.each([
  { way: "fast" as const, inOne: FAST },
  { way: "plain" as const, inOne: OTHERS },
  { way: "tls" as const, inOne: OTHERS },
  { way: "http2" as const, inOne: OTHERS },
  { way: "tier" as const, inOne: OTHERS },
])("on one's own server, over sockets, the $way way", ({ way, inOne }) => {
  const meetings = new ServerMeetings(way);
  beforeAll(() => meetings.start());
  afterAll(() => meetings.stop());

  test.each(drawn(`tricks on the server, the ${way} way`, cases, inOne))("$name", async (each) => {
    const onServer = asOnServer(each, way);
    expect(await testimony(onServer, meetings.meet)).toEqual(await truth(onServer, meetings.meet));
    const fastHits = meetings.fastHits;
    expect(await xCacheWithoutTrick(each, meetings.meet)).toBe("HIT");
    expect(meetings.fastHits - fastHits).toBe(way === "plain" || way === "http2" ? 0 : 1);
  });
});
