import { expect } from "vitest";
import { ENTRIES } from "../../mutants/entries.ts";
import { type Check, exportsOf, findersOf } from "../../mutants/finder.ts";
import { CHECKS } from "./keeper-checks.ts";
import { MINUTE, OF_45_DAYS, PAUSE_CASES, RENEWAL_CASES } from "./renewal-cases.ts";

type Renewal = typeof import("../../../server/acme/renewal.ts") & typeof import("../../../server/acme/attempts.ts");
type Scene = typeof import("./keeper-under-test.ts");

/** When a certificate is renewed, and how long after attempts in vain the next one is, by the cases' names. */
export const renewalFinders = findersOf(ENTRIES.renewal, [
  ...RENEWAL_CASES.map(([name, window, share, now, kind]): readonly [string, Check] => [
    name,
    async (modules) => {
      const { judgeRenewal } = exportsOf(modules, ENTRIES.renewal) as Renewal;
      expect(judgeRenewal(OF_45_DAYS, window, share, now).kind).toBe(kind);
    },
  ]),
  ...PAUSE_CASES.map(([attempts, of, retryAfterMs, random, minutes]): readonly [string, Check] => [
    `${attempts} of a ${of}, told to wait for ${retryAfterMs} ms, by chance ${random}`,
    async (modules) => {
      const { pauseAfter } = exportsOf(modules, ENTRIES.renewal) as Renewal;
      expect(pauseAfter(attempts, of, retryAfterMs, random)).toBe(minutes * MINUTE);
    },
  ]),
]);

/** What a keeper of certificates does. */
export const keeperFinders = findersOf(
  ENTRIES.keeper,
  Object.entries(CHECKS).map(([name, check]) => [
    name,
    async (modules) => {
      const { KeeperScene } = exportsOf(modules, ENTRIES.keeper) as Scene;
      const scene = new KeeperScene();
      try {
        await check(scene);
      } finally {
        scene.end();
      }
    },
  ]),
);
