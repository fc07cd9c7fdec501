import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mutatedEngine } from "../mutants/mutated-sources.ts";
import { byDepth, depth } from "../suite/depth.ts";
import { drawn } from "../suite/drawn.ts";
import type { Case } from "./case.ts";
import { encounter, meetBoth } from "./fuzz.ts";
import { identity } from "./identity.ts";
import type { Meet } from "./meet.ts";
import { meetInMemory, meetSoundly } from "./memory-meeting.ts";
import { oneVisitorsError } from "./one-visitors-error.ts";
import { RuntimeMeetings } from "./runtime-meeting.ts";
import { ServerMeetings } from "./server-meeting.ts";
import { unkeyedInput } from "./unkeyed-input.ts";

/** One seed is enough, because every change of the code changes the encounters; `npm run fuzz` takes others. */
const SEED = 7;
const IN_MEMORY = byDepth({ test: 150, gate: 300, all: 2500 });
const IN_RUNTIME = byDepth({ test: 10, gate: 20, all: 150 });
const ON_SERVER = byDepth({ test: 20, gate: 30, all: 2500 });

function holdsAt(meet: Meet) {
  return fc.asyncProperty(encounter, async (each) => {
    const { after, alone } = await meetBoth(each, meet);
    expect(after).toEqual(alone);
  });
}

describe("whatever the first visitor sends, the second one gets what the origin would answer to him alone", () => {
  test(`${IN_MEMORY} encounters in memory`, { timeout: 120_000 }, async () => {
    await fc.assert(holdsAt(meetSoundly), { seed: SEED, numRuns: IN_MEMORY });
  });

  describe.each([
    { name: "in the Workers runtime", meetings: new RuntimeMeetings(), count: IN_RUNTIME },
    { name: "on one's own server, the fast way", meetings: new ServerMeetings("fast"), count: ON_SERVER },
    { name: "on one's own server, the plain way", meetings: new ServerMeetings("plain"), count: ON_SERVER },
  ])("$name", ({ meetings, count }) => {
    beforeAll(() => meetings.start());
    afterAll(() => meetings.stop());

    test(`${count} encounters over sockets`, { timeout: 300_000 }, async () => {
      await fc.assert(holdsAt(meetings.meet), { seed: SEED, numRuns: count });
    });
  });
});

describe("control: with one defence switched off, these encounters find it", () => {
  const named = (cases: readonly Case[], part: string) => cases.find(({ name }) => name.includes(part))!;
  const defended = [
    named(unkeyedInput, "hx-request"),
    named(unkeyedInput, "what only one origin's scripts"),
    named(unkeyedInput, "so in Vary"),
    named(identity, "answer to credentials"),
    named(identity, "a page for a session"),
    named(identity, "with Set-Cookie is not stored"),
    named(oneVisitorsError, "another site's page"),
    // It takes long until one of them has an answer of 429.
    ...(depth === "test" ? [] : [named(oneVisitorsError, "429")]),
  ];
  test.each(drawn("defences that are switched off", defended, byDepth({ test: 3, gate: 2, all: 1 })))(
    "$name",
    { timeout: 120_000 },
    async ({ defence }) => {
      const { startMemoryEngine } = await mutatedEngine(defence);
      const { failed } = await fc.check(holdsAt(meetInMemory(startMemoryEngine)), {
        seed: SEED,
        numRuns: 3000,
        endOnFailure: true,
      });
      expect(failed).toBe(true);
    },
  );
});
