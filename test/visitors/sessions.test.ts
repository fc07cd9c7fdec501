import { expect, test } from "vitest";
import type { Case } from "./case.ts";
import { meetSoundly } from "./meetings/memory-meeting.ts";
import { KINDS } from "./sessions/kinds.ts";
import { hitRatio, type Mix, measure, mixOf, type Tallies } from "./sessions/measure.ts";
import { answerOf } from "./sessions/site.ts";

/**
 * The least hit ratios, in percent: those that were counted last, rounded down. `npm run bench -- sessions` compares more of them with other caches.
 */
const FLOORS: Readonly<Record<string, number>> = {
  browsers: 86,
  "app clients with version and request ids": 80,
  "app clients, answered by version without Vary": 0,
  "app users with tokens, own data private": 65,
  "app users with tokens, own data not private": 64,
  crawlers: 95,
  monitoring: 97,
  "htmx, named in Vary": 86,
  "htmx, not named in Vary": 88,
  "logged-in users, own pages private": 76,
  "logged-in users, own pages not private": 76,
  "logged-in users alone, shared pages not public": 20,
};

async function talliesOf(mix: Mix, site: Case["site"] = {}): Promise<Tallies> {
  const meeting = await meetSoundly(site, answerOf);
  try {
    return await measure(meeting, mixOf(mix));
  } finally {
    await meeting.stop();
  }
}

test("a mix of sessions keeps its hits, and nobody gets an answer made for another visitor's field, or a page instead of a part", {
  tags: ["gate"],
}, async () => {
  const tallies = await talliesOf({ seed: 1, sessions: 25 });
  const ratios = [...tallies].map(([kind, tally]) => [kind, hitRatio(tally) * 100] as const);
  expect(Object.keys(FLOORS).sort()).toEqual(ratios.map(([kind]) => kind).sort());
  expect(ratios.filter(([kind, ratio]) => ratio < FLOORS[kind]!)).toEqual([]);
  const all = [...tallies.values()];
  expect(all.map(({ foreign }) => foreign)).toEqual(all.map(() => 0));
  expect(all.map(({ plain }) => plain)).toEqual(all.map(() => 0));
  const added = all.reduce((sum, tally) => sum + tally.added, 0);
  const missed = all.reduce((sum, { requests, hits }) => sum + requests - hits, 0);
  expect(added).toBeLessThanOrEqual(10 + missed * 0.1);
});

test("control: without second looks, the app's clients get too few hits", async () => {
  const [app] = KINDS.filter(({ name }) => name === "app clients with version and request ids");
  const tallies = await talliesOf({ seed: 1, sessions: 25, kinds: [app!] }, { secondLook: false });
  expect(hitRatio(tallies.get(app!.name)!) * 100).toBeLessThan(FLOORS[app!.name]!);
});

test("control: an answer made for another visitor's session is counted", async () => {
  const [loggedIn] = KINDS.filter(({ name }) => name === "logged-in users, own pages not private");
  const bodies = new Map<string, string>();
  const careless = await measure(
    {
      send: async ({ path, fields = {}, method = "GET" }) => {
        const { body = "" } = answerOf({ method, target: path, fields, body: "" });
        if (!bodies.has(path)) bodies.set(path, body);
        return { status: 200, fields: {}, body: bodies.get(path)!, cutOff: false };
      },
      asked: () => bodies.size,
    },
    mixOf({ seed: 1, sessions: 3, kinds: [loggedIn!] }),
  );
  expect(careless.get(loggedIn!.name)!.foreign).toBe(4);
});
