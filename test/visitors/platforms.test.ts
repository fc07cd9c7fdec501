import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byDepth } from "../suite/depth.ts";
import { seed } from "../suite/seed.ts";
import { accountOf } from "./accounts.ts";
import { type Encounter, encounter } from "./fuzz.ts";
import { FreshRuntimeMeetings } from "./meetings/fresh-runtime-meeting.ts";
import type { Meet } from "./meetings/meet.ts";
import { meetSoundly } from "./meetings/memory-meeting.ts";
import { type PlatformDifference, platformDifferences } from "./meetings/platform-differences.ts";
import { ServerMeetings } from "./meetings/server-meeting.ts";

interface Place {
  readonly name: string;
  readonly platform: PlatformDifference["platform"];
  readonly count: number;
  readonly tags: string[];
  readonly open: () => { readonly meet: Meet; start(): Promise<void>; stop(): Promise<void> };
}

const ON_SERVER = byDepth({ test: 8, gate: 8, all: 100, explore: 2000 });
const OVER_TLS = byDepth({ test: 4, gate: 4, all: 100, explore: 2000 });
const IN_RUNTIME = byDepth({ test: 4, gate: 4, all: 40, explore: 1000 });

const places: readonly Place[] = [
  {
    name: "on one's own server, the fast way",
    platform: "server",
    count: ON_SERVER,
    tags: [],
    open: () => new ServerMeetings("fast"),
  },
  {
    name: "on one's own server, the plain way",
    platform: "server",
    count: ON_SERVER,
    tags: ["deep"],
    open: () => new ServerMeetings("plain"),
  },
  {
    name: "on one's own server, over TLS",
    platform: "server",
    count: OVER_TLS,
    tags: ["deep"],
    open: () => new ServerMeetings("tls"),
  },
  {
    name: "on one's own server, in HTTP/2",
    platform: "http2",
    count: OVER_TLS,
    tags: [],
    open: () => new ServerMeetings("http2"),
  },
  {
    name: "in the Workers runtime",
    platform: "runtime",
    count: IN_RUNTIME,
    tags: [],
    open: () => new FreshRuntimeMeetings(),
  },
];

describe.each(places)("$name, visitors and origin see the same as in memory", ({ platform, count, tags, open }) => {
  const meetings = open();
  beforeAll(() => meetings.start());
  afterAll(() => meetings.stop());

  const differences = platformDifferences.filter((each) => each.platform === platform);
  const isComparable = ({ first, second }: Encounter) =>
    !differences.some(({ concerns }) => concerns(first) || concerns(second));

  test(`${count} encounters`, { tags, timeout: 300_000 }, async () => {
    const same = fc.asyncProperty(encounter.filter(isComparable), async (each) => {
      expect(await accountOf(each, meetings.meet)).toEqual(await accountOf(each, meetSoundly));
    });
    await fc.assert(same, { seed, numRuns: count });
  });

  test.each(differences)("control: $because", { tags: ["deep"] }, async ({ example }) => {
    const origin = { ...PLAIN_ORIGIN, reads: Object.keys(example.fields ?? {}) };
    const each = { origin, first: example, second: { path: "/a" } };
    expect(isComparable(each)).toBe(false);
    expect(await accountOf(each, meetings.meet)).not.toEqual(await accountOf(each, meetSoundly));
  });
});

const PLAIN_ORIGIN: Encounter["origin"] = {
  reads: [],
  cacheControl: "max-age=60",
  vary: [],
  status: 200,
  allows: "nothing",
  encodes: false,
  setsCookieFor: "",
  fails: { field: "", value: "", status: 200 },
  redirects: false,
};
