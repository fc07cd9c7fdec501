import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mutatedEngine } from "../mutants/sources/mutated-sources.ts";
import { byDepth } from "../suite/depth.ts";
import { seed } from "../suite/seed.ts";
import type { Case } from "./case.ts";
import { encounter, meetBoth } from "./fuzz.ts";
import { identity } from "./identity.ts";
import type { Meet } from "./meetings/meet.ts";
import { meetInMemory, meetSoundly } from "./meetings/memory-meeting.ts";
import { RuntimeMeetings } from "./meetings/runtime-meeting.ts";
import { ServerMeetings } from "./meetings/server-meeting.ts";
import { oneVisitorsError } from "./one-visitors-error.ts";
import { unkeyedInput } from "./unkeyed-input.ts";

const IN_MEMORY = byDepth({ test: 40, gate: 40, all: 100, explore: 2500 });
const IN_RUNTIME = byDepth({ test: 5, gate: 5, all: 50, explore: 150 });
const ON_SERVER = byDepth({ test: 10, gate: 10, all: 100, explore: 2500 });

function holdsAt(meet: Meet) {
  return fc.asyncProperty(encounter, async (each) => {
    const { after, alone } = await meetBoth(each, meet);
    expect(after).toEqual(alone);
  });
}

describe("whatever the first visitor sends, the second one gets the answer that the origin would give him without the first", () => {
  test(`${IN_MEMORY} encounters in memory`, { timeout: 120_000 }, async () => {
    await fc.assert(holdsAt(meetSoundly), { seed, numRuns: IN_MEMORY });
  });

  describe.each([
    { name: "in the Workers runtime", meetings: new RuntimeMeetings(), count: IN_RUNTIME },
    { name: "on one's own server, the fast way", meetings: new ServerMeetings("fast"), count: ON_SERVER },
    { name: "on one's own server, the plain way", meetings: new ServerMeetings("plain"), count: ON_SERVER },
  ])("$name", ({ meetings, count }) => {
    beforeAll(() => meetings.start());
    afterAll(() => meetings.stop());

    test(`${count} encounters over sockets`, { timeout: 300_000 }, async () => {
      await fc.assert(holdsAt(meetings.meet), { seed, numRuns: count });
    });
  });
});

describe("control: these encounters notice each defence that is switched off", () => {
  const named = (cases: readonly Case[], part: string) => {
    const found = cases.find(({ name }) => name.includes(part));
    if (!found) throw new Error(`No case has "${part}" in its name.`);
    return found;
  };
  const defended = [named(identity, "with Set-Cookie is not stored")];
  const others = [
    named(unkeyedInput, "to hx-target"),
    named(unkeyedInput, "what only one origin's scripts"),
    named(unkeyedInput, "if Vary names a field"),
    named(identity, "a page for a session"),
    named(identity, "answer to credentials"),
    named(oneVisitorsError, "a page of another site"),
    named(oneVisitorsError, "429"),
  ];
  const isFound = async ({ defence }: Case) => {
    const { startMemoryEngine } = await mutatedEngine(defence);
    const meet = meetInMemory(startMemoryEngine);
    const { failed } = await fc.check(holdsAt(meet), { seed, numRuns: 9000, endOnFailure: true });
    expect(failed).toBe(true);
  };
  test.each(defended)("$name", { tags: ["deep"], timeout: 120_000 }, isFound);
  test.each(others)("$name", { tags: ["deep"], timeout: 300_000 }, isFound);
});
