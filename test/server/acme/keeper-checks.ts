import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { certificateId } from "../../../server/acme/certificate-id.ts";
import { shareOf } from "../../../server/acme/renewal.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { DAY, HOUR, type KeeperScene, MINUTE, STARTED_AT } from "./keeper-under-test.ts";

const NAME = "www.example.com";
const UNREACHABLE = { because: "it is out of reach", retryAfterMs: null, concerns: "all" } as const;
const NO_ROUTE = { because: "nothing answers there", retryAfterMs: null, concerns: "name" } as const;

const at = ({ authority }: KeeperScene) => authority.orders.map(({ atMs }) => atMs);
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** What a keeper of certificates does, on virtual time. */
export const CHECKS: Readonly<Record<string, (scene: KeeperScene) => Promise<void>>> = {
  "a name without a certificate gets one at once, which only this user can read, and is in use by one reload for all":
    async (scene) => {
      scene.names = [NAME, "example.com"];
      await scene.start();
      expect(scene.authority.orders.map(({ name, type, replaces }) => [name, type, replaces])).toEqual([
        [NAME, "http-01", null],
        ["example.com", "http-01", null],
      ]);
      expect(scene.reloads).toBe(1);
      expect(scene.said).toEqual([
        "there is a new certificate for www.example.com, valid until 2026-04-15T00:00:00Z",
        "there is a new certificate for example.com, valid until 2026-04-15T00:00:00Z",
      ]);
      const { path } = scene.folder;
      expect(path).toMatch(/authority\.test_dir_list$/);
      expect(readdirSync(path).sort()).toEqual(["attempts.json", "example.com.pem", `${NAME}.pem`]);
      expect(readdirSync(path).map((file) => modeOf(join(path, file)))).toEqual([0o600, 0o600, 0o600]);
      expect(modeOf(path)).toBe(0o700);
      expect(scene.folder.certificatesOf(scene.names)).toMatchObject({
        certificates: [{ names: [NAME], kind: "ec" }, { names: ["example.com"] }],
        problems: [],
      });
    },

  "a name without a certificate gets it by the second challenge if the first one does not do, in the same attempt":
    async (scene) => {
      scene.authority.refuses = ({ type }) => (type === "http-01" ? NO_ROUTE : null);
      await scene.start();
      expect(scene.authority.orders.map(({ type }) => type)).toEqual(["http-01", "tls-alpn-01"]);
      expect(scene.kept()).toContain("BEGIN CERTIFICATE");
    },

  "a name without a certificate is tried again after longer and longer pauses if both challenges fail, and the owner is told of both":
    async (scene) => {
      scene.authority.refuses = ({ type }) => ({ ...NO_ROUTE, because: `${type} failed` });
      await scene.start();
      await scene.pass(24 * HOUR);
      const attempts = at(scene).filter((_, index) => index % 2 === 0);
      expect(attempts.map((ms) => ms / MINUTE)).toEqual([0, 15, 45, 105, 225, 465, 825, 1185]);
      expect(scene.said[0]).toBe(
        "there is no certificate for www.example.com: http-01 failed; tls-alpn-01 failed. Until there is one, TLS " +
          "connections to it fail. The next attempt is at 2026-03-01T00:15:00Z.",
      );
      scene.authority.refuses = () => null;
      await scene.pass(6 * HOUR);
      expect(scene.kept()).toContain("BEGIN CERTIFICATE");
    },

  "a name without a certificate is told once what both challenges fail for": async (scene) => {
    scene.authority.refuses = () => NO_ROUTE;
    await scene.start();
    expect(scene.said[0]).toMatch(/^there is no certificate for www\.example\.com: nothing answers there\. Until /);
  },

  "a name without a certificate is added later, and ordered alone": async (scene) => {
    await scene.start();
    await scene.pass(DAY);
    scene.names = [NAME, "new.example.com"];
    scene.keeper?.look();
    await scene.pass(0);
    expect(scene.authority.orders.map(({ name }) => name)).toEqual([NAME, "new.example.com"]);
    scene.names = [NAME];
    scene.keeper?.look();
    await scene.pass(31 * DAY);
    expect(scene.authority.orders.slice(2).map(({ name }) => name)).toEqual([NAME]);
  },

  "a name without a certificate whose file cannot be used is one without": async (scene) => {
    mkdirSync(scene.folder.path, { recursive: true });
    writeFileSync(join(scene.folder.path, `${NAME}.pem`), "half a certif");
    expect(scene.folder.certificatesOf([NAME]).problems[0]).toMatch(
      /it is not a certificate in PEM\. The server orders another one\./,
    );
    await scene.start();
    expect(scene.folder.certificateOf(NAME)?.names).toEqual([NAME]);
  },

  "a name without a certificate among many is ordered with seven others, and each such group comes into use together":
    async (scene) => {
      scene.names = Array.from({ length: 20 }, (_, index) => `site-${index}.example.com`);
      await scene.start();
      expect(scene.authority.orders.length).toBe(20);
      expect(scene.authority.mostUnderWay).toBe(8);
      expect(scene.reloads).toBe(3);
    },

  "a name without a certificate goes before all that have one": async (scene) => {
    const old = Array.from({ length: 9 }, (_, index) => `site-${index}.example.com`);
    scene.names = old;
    await scene.start();
    await scene.pass(29.5 * DAY + HOUR);
    scene.names = [...old, NAME];
    await scene.pass(5 * HOUR);
    const { orders } = scene.authority;
    expect(orders).toHaveLength(19);
    expect(orders[9]!.name).toBe(NAME);
  },

  "a certificate is renewed when a third of its lifetime is left, with a new key, and names the one that it replaces":
    async (scene) => {
      await scene.start();
      const first = scene.kept();
      await scene.pass(30 * DAY - 1);
      expect(scene.kept()).toBe(first);
      await scene.pass(1);
      expect(at(scene)).toEqual([0, 30 * DAY]);
      const keyOf = (pem: string) => pem.slice(0, pem.indexOf("-----END PRIVATE KEY"));
      expect(keyOf(scene.kept())).not.toBe(keyOf(first));
      expect(scene.authority.orders[1]!.replaces).toBe(certificateId(first));
      expect(scene.reloads).toBe(2);
    },

  "a certificate is renewed together with those that would be within the next hours, by one reload for all": async (
    scene,
  ) => {
    const early = Array.from({ length: 10 }, (_, index) => `site-${index}.example.com`);
    scene.names = early;
    await scene.start();
    for (const [after, name] of [
      [3 * HOUR, "hours-later.example.com"],
      [9 * HOUR, "half-a-day-later.example.com"],
    ] as const) {
      await scene.pass(after);
      scene.names = [name, ...scene.names];
      scene.keeper?.look();
      await scene.pass(0);
    }
    const { orders } = scene.authority;
    const [ordered, reloads] = [orders.length, scene.reloads];
    await scene.pass(30 * DAY - 12 * HOUR);
    expect(orders.slice(ordered).map(({ name }) => name)).toEqual(["hours-later.example.com", ...early]);
    expect(scene.reloads).toBe(reloads + 1);
    await scene.pass(DAY);
    expect(orders.slice(ordered + 11).map(({ name }) => name)).toEqual(["half-a-day-later.example.com"]);
  },

  "a certificate that cannot be renewed together with others is tried again after longer and longer pauses": async (
    scene,
  ) => {
    const later = "later.example.com";
    await scene.start();
    await scene.pass(3 * HOUR);
    scene.names = [NAME, later];
    scene.keeper?.look();
    await scene.pass(0);
    scene.authority.refuses = ({ name }) => (name === later ? NO_ROUTE : null);
    await scene.pass(28 * DAY - 3 * HOUR);
    const { orders } = scene.authority;
    const ordered = orders.length;
    await scene.pass(2 * DAY + 2 * HOUR);
    const attempts = orders.slice(ordered).filter(({ name, type }) => name === later && type === "http-01");
    expect(attempts.map(({ atMs }) => (atMs - 30 * DAY) / MINUTE)).toEqual([0, 15, 45, 105]);
    expect(scene.said.at(-1)).toContain("The next attempt is at 2026-03-31T03:45:00Z.");
  },

  "a certificate is renewed in the window of the authority, which is asked again as often as it says": async (
    scene,
  ) => {
    scene.authority.info = {
      window: { startAt: STARTED_AT + 40 * DAY, endAt: STARTED_AT + 41 * DAY },
      againInMs: 6 * HOUR,
    };
    await scene.start();
    const first = scene.kept();
    await scene.pass(10 * DAY);
    expect(scene.authority.asked.length).toBeGreaterThanOrEqual(38);
    expect(scene.authority.asked.length).toBeLessThanOrEqual(41);
    expect(new Set(scene.authority.asked)).toEqual(new Set([certificateId(first)]));
    // As after an incident: the authority wants it to be renewed soon.
    const window = { startAt: STARTED_AT + 12 * DAY, endAt: STARTED_AT + 14 * DAY };
    scene.authority.info = { window, againInMs: 6 * HOUR };
    await scene.pass(5 * DAY);
    const moment = 12 * DAY + Math.floor(shareOf(certificateId(first)!) * 2 * DAY);
    expect(at(scene)[1]).toBeGreaterThanOrEqual(moment);
    expect(at(scene)[1]).toBeLessThanOrEqual(moment + MINUTE);
  },

  "a certificate is renewed in its window once, also if the authority does not name the window again": async (
    scene,
  ) => {
    const window = { startAt: STARTED_AT + 10 * DAY, endAt: STARTED_AT + 10 * DAY + 1 };
    scene.authority.info = { window, againInMs: DAY };
    await scene.start();
    await scene.pass(10 * DAY - HOUR);
    scene.authority.info = null;
    await scene.pass(7 * HOUR);
    expect(at(scene)).toEqual([0, 10 * DAY]);
    expect(scene.authority.asked.at(-1)).toBe(certificateId(scene.kept())); // the window of the new one is its own
    await scene.pass(29 * DAY);
    expect(scene.authority.orders).toHaveLength(2);
  },

  "a certificate whose authority wants to be asked each hour for its window is renewed within the hour": async (
    scene,
  ) => {
    scene.authority.info = {
      window: { startAt: STARTED_AT + 40 * DAY, endAt: STARTED_AT + 41 * DAY },
      againInMs: HOUR,
    };
    await scene.start();
    await scene.pass(DAY + 90 * MINUTE);
    scene.authority.info = { window: { startAt: 0, endAt: 1 }, againInMs: HOUR };
    await scene.pass(HOUR);
    expect(at(scene)[1]).toBe(DAY + 2 * HOUR);
  },

  "a certificate stays in place while it cannot be renewed; its owner is told, and warned when a third is left": async (
    scene,
  ) => {
    const window = { startAt: STARTED_AT + 28 * DAY, endAt: STARTED_AT + 28 * DAY + 1 };
    scene.authority.info = { window, againInMs: DAY };
    await scene.start();
    const first = scene.kept();
    scene.authority.refuses = () => NO_ROUTE;
    await scene.pass(29 * DAY);
    expect(scene.kept()).toBe(first);
    expect(scene.said[1]).toMatch(
      /^the certificate for www\.example\.com was not renewed yet: nothing answers there\. It /,
    );
    expect(scene.said.some((line) => line.includes("expires in"))).toBe(false);
    await scene.pass(2 * DAY);
    expect(scene.said.at(-1)).toMatch(
      /^the certificate for www\.example\.com expires in 14 days, and could not be renewed/,
    );
    await scene.pass(15 * DAY);
    expect(scene.said.at(-1)).toMatch(/expired at 2026-04-15T00:00:00Z, and could not be renewed/);
    expect(scene.kept()).toBe(first);
    expect(scene.reloads).toBe(1);
    scene.authority.info = null;
    scene.authority.refuses = () => null;
    await scene.pass(6 * HOUR);
    expect(scene.kept()).not.toBe(first);
  },

  "a certificate for another name, or another key, does not take its place": async (scene) => {
    await scene.start();
    const first = scene.kept();
    scene.authority.issued = { name: "example.org" };
    await scene.pass(30 * DAY);
    expect(scene.kept()).toBe(first);
    expect(scene.said.at(-1)).toContain("a certificate for other names: DNS:example.org");
    expect(scene.reloads).toBe(1);
  },

  "a certificate with a chain that cannot be used does not take its place, and the next one does": async (scene) => {
    await scene.start();
    const first = scene.kept();
    scene.authority.issued = { rest: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" };
    await scene.pass(30 * DAY);
    expect(scene.kept()).toBe(first);
    expect(scene.said.at(-1)).toContain("could not be renewed: the authority issued a chain that cannot be used: ");
    scene.authority.issued = {};
    await scene.pass(15 * MINUTE);
    expect(scene.kept()).not.toBe(first);
  },

  "a certificate that has expired already by a wrong clock is used, and not ordered again and again": async (scene) => {
    scene.authority.issued = { validUntil: STARTED_AT - DAY };
    await scene.start();
    await scene.pass(MINUTE);
    expect(scene.authority.orders.length).toBe(1);
    for (const pause of [HOUR, DAY]) {
      await scene.pass(pause);
      expect(scene.reloads).toBe(scene.authority.orders.length);
      expect(scene.authority.orders.length).toBeLessThanOrEqual(8);
    }
    expect(scene.kept()).toContain("BEGIN CERTIFICATE");
  },

  "a certificate that another process has left there is taken into use": async (scene) => {
    await scene.start();
    const [certificate, kept] = [scene.inUse, scene.kept()];
    scene.inUse = [];
    scene.keeper?.look();
    await scene.pass(0);
    expect(scene.reloads).toBe(2);
    expect([scene.inUse, scene.kept()]).toEqual([certificate, kept]);
  },

  "a certificate that another process has left there does not wait for the orders of others": async (scene) => {
    scene.names = [NAME, "other.example.com"];
    const validity = { validFrom: new Date(STARTED_AT), validUntil: new Date(STARTED_AT + 45 * DAY) };
    const { chain, key } = makeCertificate([NAME], validity);
    scene.folder.keep(NAME, key, chain);
    scene.authority.hangs = true;
    await scene.start();
    expect(scene.inUse.map(({ names }) => names)).toEqual([[NAME]]);
  },

  "a certificate whose file was removed is ordered again": async (scene) => {
    await scene.start();
    rmSync(join(scene.folder.path, `${NAME}.pem`));
    scene.keeper?.look();
    await scene.pass(0);
    expect(at(scene)).toEqual([0, 0]);
    expect(scene.kept()).toContain("BEGIN CERTIFICATE");
  },

  "a certificate whose file can no longer be read stays in use until it is renewed": async (scene) => {
    await scene.start();
    const { inUse } = scene;
    const file = join(scene.folder.path, `${NAME}.pem`);
    rmSync(file);
    mkdirSync(file);
    const { certificates, problems } = scene.folder.certificatesOf([NAME]);
    expect(certificates).toEqual(inUse);
    expect(problems).toEqual([
      `the certificate ${file} cannot be used: it is a folder. The server goes on with the one that it has read before.`,
    ]);
    scene.keeper?.look();
    await scene.pass(DAY);
    expect([scene.authority.orders.length, scene.reloads]).toEqual([1, 1]);
    rmSync(file, { recursive: true });
    await scene.pass(30 * DAY);
    expect(scene.kept()).toContain("BEGIN CERTIFICATE");
  },

  "a certificate that a reload leaves out is tried again after an hour, and holds up no other one": async (scene) => {
    scene.leftOut = [NAME];
    await scene.start();
    await scene.pass(HOUR - 1);
    expect(scene.reloads).toBe(1);
    scene.names = [NAME, "other.example.com"];
    scene.keeper?.look();
    await scene.pass(0);
    expect(scene.reloads).toBe(2);
    expect(scene.inUse.map(({ names }) => names)).toEqual([["other.example.com"]]);
    scene.leftOut = [];
    await scene.pass(HOUR);
    expect(scene.reloads).toBe(3);
    expect(scene.inUse.length).toBe(2);
  },

  "a certificate that could not be taken into use is taken into use later": async (scene) => {
    scene.reloadWorks = false;
    await scene.start();
    await scene.pass(HOUR);
    scene.reloadWorks = true;
    const before = scene.reloads;
    await scene.pass(2 * HOUR);
    expect(scene.reloads).toBe(before + 1);
    expect(scene.authority.orders.length).toBe(1);
  },

  "an authority that is out of reach is asked for one group after a minute, two, four, and for the rest not at all":
    async (scene) => {
      scene.names = Array.from({ length: 10 }, (_, index) => `site-${index}.example.com`);
      scene.authority.refuses = () => UNREACHABLE;
      await scene.start();
      await scene.pass(7 * MINUTE);
      expect(new Set(at(scene))).toEqual(new Set([0, MINUTE, 3 * MINUTE, 7 * MINUTE]));
      expect(scene.authority.orders.length).toBe(4 * 8);
      // All names are told of, also those that nobody asked for.
      expect(scene.said.slice(0, 10).every((line) => line.includes("it is out of reach"))).toBe(true);
      expect(new Set(scene.said.slice(0, 10).map((line) => /for (\S+):/.exec(line)![1])).size).toBe(10);
      scene.authority.refuses = () => null;
      await scene.pass(8 * MINUTE);
      expect(readdirSync(scene.folder.path).filter((file) => file.endsWith(".pem")).length).toBe(10);
    },

  "an authority that has answered since is asked after a minute if it is out of reach again": async (scene) => {
    const { orders } = scene.authority;
    scene.authority.refuses = () => UNREACHABLE;
    await scene.start();
    await scene.pass(MINUTE);
    for (const [answer, next] of [
      [null, "next.example.com"],
      [NO_ROUTE, "last.example.com"],
    ] as const) {
      scene.authority.refuses = () => answer;
      await scene.pass(2 * MINUTE);
      scene.authority.refuses = () => UNREACHABLE;
      const asked = orders.length;
      scene.names = [next];
      scene.keeper?.look();
      await scene.pass(MINUTE);
      expect(orders.slice(asked).map(({ name }) => name)).toEqual([next, next]);
    }
  },

  "an authority that was out of reach is asked at once when the owner wants it, and by the next process": async (
    scene,
  ) => {
    scene.authority.refuses = () => UNREACHABLE;
    await scene.start();
    await scene.pass(3 * MINUTE);
    scene.keeper?.tryAgain();
    await scene.pass(0);
    expect(at(scene)).toEqual([0, MINUTE, 3 * MINUTE, 3 * MINUTE]);
    scene.authority.refuses = () => null;
    await scene.start();
    expect(scene.kept()).toContain("BEGIN CERTIFICATE");
  },

  "an authority that the owner wants to be asked is asked after short pauses again": async (scene) => {
    scene.authority.refuses = () => NO_ROUTE;
    await scene.start();
    await scene.pass(69 * MINUTE);
    scene.keeper?.tryAgain();
    await scene.pass(15 * MINUTE);
    const attempts = at(scene).filter((_, index) => index % 2 === 0);
    expect(attempts.map((ms) => ms / MINUTE)).toEqual([0, 15, 45, 69, 84]);
  },

  "an authority that names a limit is left alone: for that name as long as it says, for the others an hour": async (
    scene,
  ) => {
    scene.names = [NAME];
    const limit = { because: "too many", retryAfterMs: 34 * HOUR, concerns: "all" } as const;
    scene.authority.refuses = ({ name }) => (name === NAME ? limit : null);
    await scene.start();
    scene.names = [NAME, "other.example.com"];
    scene.keeper?.look();
    await scene.pass(HOUR - 1);
    expect(scene.authority.orders.length).toBe(1);
    await scene.pass(1);
    expect(scene.authority.orders.map(({ name }) => name)).toEqual([NAME, "other.example.com"]);
    await scene.pass(33 * HOUR - 1);
    expect(scene.authority.orders.length).toBe(2);
    await scene.pass(1);
    expect(scene.authority.orders.length).toBe(3);
  },

  "an authority that names a limit for some names is asked for all others before it is asked for those again": async (
    scene,
  ) => {
    await scene.start();
    await scene.pass(30 * DAY - HOUR);
    const limited = Array.from({ length: 10 }, (_, index) => `site-${index}.example.net`);
    scene.names = [...limited, NAME];
    const limit = { because: "too many", retryAfterMs: 30 * MINUTE, concerns: "all" } as const;
    scene.authority.refuses = ({ name }) => (name === NAME ? null : limit);
    const { orders } = scene.authority;
    const ordered = orders.length;
    scene.keeper?.look();
    await scene.pass(0);
    expect(orders.slice(ordered).map(({ name }) => name)).toEqual(limited.slice(0, 8));
    await scene.pass(30 * MINUTE);
    const again = limited.slice(0, 5);
    expect(orders.slice(ordered + 8).map(({ name }) => name)).toEqual([...limited.slice(8), NAME, ...again]);
  },

  "an authority that names two limits is left alone as long as the longer one lasts": async (scene) => {
    scene.names = [NAME, "other.example.com"];
    scene.authority.refuses = ({ name }) => {
      return { because: "too many", retryAfterMs: (name === NAME ? 30 : 5) * MINUTE, concerns: "all" };
    };
    await scene.start();
    scene.names = ["third.example.com"];
    scene.keeper?.look();
    await scene.pass(30 * MINUTE - 1);
    expect(scene.authority.orders).toHaveLength(2);
    await scene.pass(1);
    expect(scene.authority.orders).toHaveLength(3);
  },

  "an authority that names a limit is left alone also by the next process": async (scene) => {
    scene.authority.refuses = () => ({ because: "too many", retryAfterMs: 30 * MINUTE, concerns: "all" });
    await scene.start();
    scene.names = ["other.example.com"];
    await scene.pass(29 * MINUTE);
    await scene.start();
    await scene.pass(MINUTE - 1);
    expect(scene.authority.orders.length).toBe(1);
    await scene.pass(1);
    expect(scene.authority.orders.length).toBe(2);
  },

  "an authority is not asked more often because the server starts again and again": async (scene) => {
    scene.authority.refuses = () => NO_ROUTE;
    for (let turn = 0; turn < 120; turn++) {
      await scene.start();
      await scene.pass(MINUTE);
    }
    expect(
      at(scene)
        .filter((_, index) => index % 2 === 0)
        .map((ms) => ms / MINUTE),
    ).toEqual([0, 24, 48, 72, 96, 120]);
  },

  "an authority is asked when the owner wants it, but not before it may be": async (scene) => {
    scene.authority.refuses = () => NO_ROUTE;
    await scene.start();
    await scene.pass(15 * MINUTE); // the second attempt; the third would be half an hour later
    expect(scene.authority.orders.length).toBe(4);
    scene.authority.refuses = () => null;
    await scene.pass(23 * MINUTE);
    scene.keeper?.tryAgain();
    await scene.pass(0);
    expect(scene.authority.orders.length).toBe(4);
    expect(scene.said.at(-1)).toMatch(
      /^there is no certificate for www\.example\.com: .*nothing answers there\. .* The next attempt is at 2026-03-01T00:39:00Z\.$/,
    );
    await scene.pass(MINUTE);
    expect(scene.authority.orders.length).toBe(5);
  },

  "an authority is not asked later because the owner wants it sooner": async (scene) => {
    scene.authority.refuses = () => NO_ROUTE;
    await scene.start();
    await scene.pass(5 * MINUTE);
    scene.keeper?.tryAgain();
    await scene.pass(0);
    expect(scene.said).toHaveLength(2);
    expect(scene.said[1]).toBe(scene.said[0]);
    await scene.pass(10 * MINUTE);
    expect(scene.authority.orders.length).toBe(4);
  },

  "an authority that is out of use is the reason for a name that was never tried": async (scene) => {
    scene.authority.refuses = () => UNREACHABLE;
    await scene.start();
    scene.names = [NAME, "other.example.com"];
    scene.keeper?.look();
    await scene.pass(0);
    expect(scene.authority.orders.length).toBe(1);
    expect(scene.said.at(-1)).toBe(
      "there is no certificate for other.example.com: the authority could not be used a short time ago. Until there is " +
        "one, TLS connections to it fail. The next attempt is at 2026-03-01T00:01:00Z.",
    );
  },

  "an authority is asked for its window when the owner wants it": async (scene) => {
    await scene.start();
    await scene.pass(DAY);
    scene.authority.info = { window: { startAt: 0, endAt: 1 }, againInMs: DAY };
    scene.keeper?.tryAgain();
    await scene.pass(0);
    expect(at(scene)).toEqual([0, DAY]);
  },

  "a certificate is renewed in time, although the clock was ten years ahead for some hours": async (scene) => {
    scene.names = [NAME, "other.example.com"];
    const limit = { because: "too many", retryAfterMs: 30 * MINUTE, concerns: "all" } as const;
    for (const refusal of [UNREACHABLE, NO_ROUTE, limit]) {
      scene.authority.refuses = () => null;
      await scene.start();
      const since = scene.clock.now();
      scene.authority.refuses = () => refusal;
      scene.aheadMs = 3650 * DAY;
      await scene.pass(7 * HOUR);
      scene.authority.refuses = () => null;
      scene.aheadMs = 0;
      await scene.pass(31 * DAY);
      const renewed = scene.inUse.filter(({ validFrom }) => validFrom > since + 7 * HOUR);
      expect(renewed.map(({ names }) => names[0])).toEqual(scene.names);
    }
  },

  "an authority is asked for its window at the latest a day later, although the clock was ahead": async (scene) => {
    await scene.start();
    scene.authority.info = { window: { startAt: STARTED_AT + 28 * DAY, endAt: STARTED_AT + 29 * DAY }, againInMs: DAY };
    scene.aheadMs = 10 * DAY;
    await scene.pass(7 * HOUR);
    scene.aheadMs = 0;
    const asked = scene.authority.asked.length;
    await scene.pass(DAY);
    expect(scene.authority.asked.length).toBeGreaterThan(asked);
  },

  "an authority that names a limit is left alone also after a time in which the clock was ahead": async (scene) => {
    const limit = { because: "too many", retryAfterMs: 30 * MINUTE, concerns: "all" } as const;
    scene.authority.refuses = () => limit;
    scene.aheadMs = 3650 * DAY;
    await scene.start();
    scene.aheadMs = 0;
    await scene.pass(31 * MINUTE);
    expect(at(scene)).toEqual([0, 30 * MINUTE]);
    scene.names = [...scene.names, "other.example.com"];
    scene.keeper?.tryAgain();
    await scene.pass(28 * MINUTE);
    expect(at(scene)).toEqual([0, 30 * MINUTE]);
    await scene.pass(MINUTE);
    expect(at(scene)).toEqual([0, 30 * MINUTE, HOUR, HOUR]);
  },

  "an authority that is out of reach is asked after pauses also when the clock was ahead": async (scene) => {
    scene.authority.refuses = () => UNREACHABLE;
    scene.aheadMs = 3650 * DAY;
    await scene.start();
    scene.aheadMs = 0;
    await scene.pass(7 * MINUTE);
    expect(at(scene)).toEqual([0, MINUTE, 3 * MINUTE, 7 * MINUTE]);
  },

  "a folder that cannot be written keeps the authority from being asked": async (scene) => {
    mkdirSync(dirname(scene.folder.path), { recursive: true });
    writeFileSync(scene.folder.path, "a file");
    await scene.start();
    await scene.pass(HOUR);
    expect(scene.authority.orders).toEqual([]);
    expect(scene.said[0]).toMatch(
      /^there is no certificate for www\.example\.com: the certificate cannot be written to disk: /,
    );
  },

  "a folder without room for a certificate has it once there is room, and no other one is ordered": async (scene) => {
    const { folder, authority } = scene;
    const { keep, noteAttempts } = folder;
    const full = () => {
      throw new Error("ENOSPC: no space left on device, write");
    };
    folder.keep = full;
    await scene.start();
    folder.noteAttempts = full;
    await scene.pass(DAY);
    expect(scene.said.at(-1)).toMatch(/^there is no certificate for www\.example\.com: .*: ENOSPC: /);
    scene.names = [NAME, "other.example.com"];
    Object.assign(folder, { keep, noteAttempts });
    await scene.pass(6 * HOUR);
    expect(authority.orders.map(({ name }) => name)).toEqual([NAME, "other.example.com"]);
    expect(scene.inUse.map(({ names }) => names[0])).toEqual(scene.names);
    // The next one is ordered, with another key.
    const first = scene.kept();
    await scene.pass(30 * DAY);
    expect(authority.orders.filter(({ name }) => name === NAME)).toHaveLength(2);
    expect(scene.kept().split("-----END")[0]).not.toBe(first.split("-----END")[0]);
  },

  "a folder that has room again has the certificate within a minute, or as soon as the owner wants it": async (
    scene,
  ) => {
    const { folder } = scene;
    const { keep } = folder;
    folder.keep = () => {
      throw new Error("ENOSPC: no space left on device, write");
    };
    await scene.start();
    await scene.pass(MINUTE);
    expect(scene.said).toHaveLength(2);
    folder.keep = keep;
    scene.keeper?.tryAgain();
    await scene.pass(0);
    expect(scene.folder.certificateOf(NAME)?.names).toEqual([NAME]);
    expect(scene.authority.orders).toHaveLength(1);
  },

  "a folder without room for a certificate does not get it in place of a newer one of another process": async (
    scene,
  ) => {
    const { folder } = scene;
    const keep = folder.keep.bind(folder);
    folder.keep = () => {
      throw new Error("ENOSPC: no space left on device, write");
    };
    await scene.start();
    folder.keep = keep;
    const validity = { validFrom: new Date(STARTED_AT), validUntil: new Date(STARTED_AT + 90 * DAY) };
    const { chain, key } = makeCertificate([NAME], validity);
    keep(NAME, key, chain);
    await scene.pass(61 * DAY);
    expect(at(scene)).toEqual([0, 60 * DAY]);
    expect(scene.said.slice(1)).toEqual([
      "there is a new certificate for www.example.com, valid until 2026-06-14T00:00:00Z",
    ]);
  },

  "a folder of a process that was killed in the middle of an order has nothing half, and the owner is told": async (
    scene,
  ) => {
    const never = new Promise<never>(() => undefined);
    const { order } = scene.authority;
    scene.authority.order = () => never;
    await scene.start();
    expect(readdirSync(scene.folder.path)).toEqual(["attempts.json"]);
    scene.authority.order = order;
    await scene.pass(4 * MINUTE);
    scene.keeper = null; // nobody has stopped it
    await scene.start();
    expect(scene.said).toEqual([
      "there is no certificate for www.example.com: the last attempt was a short time ago. Until there is one, " +
        "TLS connections to it fail. The next attempt is at 2026-03-01T00:24:00Z.",
    ]);
    await scene.pass(20 * MINUTE);
    expect(scene.folder.certificateOf(NAME)?.names).toEqual([NAME]);
  },

  "a folder of a process that was stopped in the middle of an order does not keep the next one waiting": async (
    scene,
  ) => {
    scene.authority.hangs = true;
    await scene.start();
    expect(scene.authority.orders.length).toBe(1);
    scene.keeper?.stop();
    await scene.pass(0);
    expect(scene.said).toEqual([]);
    scene.authority.hangs = false;
    await scene.start();
    expect(scene.folder.certificateOf(NAME)?.names).toEqual([NAME]);
  },

  "a folder of a server that is stopped is left alone, however many names have no certificate": async (scene) => {
    scene.names = Array.from({ length: 20 }, (_, index) => `site-${index}.example.com`);
    scene.authority.hangs = true;
    await scene.start();
    scene.keeper?.stop();
    await scene.pass(0);
    expect(scene.authority.orders).toHaveLength(8);
  },

  "a folder that has all certificates is watched for no longer than the server runs": async (scene) => {
    await scene.start();
    await scene.pass(DAY);
    expect(scene.clock.waits).toBe(1);
    scene.keeper?.stop();
    await scene.pass(0);
    expect(scene.clock.waits).toBe(0);
  },

  "a folder that was copied with other rights is for this user alone again": async (scene) => {
    mkdirSync(scene.folder.path, { recursive: true, mode: 0o755 });
    chmodSync(scene.folder.path, 0o755);
    await scene.start();
    expect(modeOf(scene.folder.path)).toBe(0o700);
  },

  "a folder with notes of a wrong clock does not keep the authority from being asked": async (scene) => {
    const later = STARTED_AT + 1000 * DAY;
    scene.folder.noteAttempts({ lastAt: { [NAME]: later }, notBeforeAt: later });
    await scene.start();
    await scene.pass(HOUR);
    expect(scene.authority.orders.length).toBe(1);
  },

  "a folder with notes that somebody has broken is one without": async (scene) => {
    mkdirSync(scene.folder.path, { recursive: true });
    writeFileSync(join(scene.folder.path, "attempts.json"), '{"lastAt": 7');
    await scene.start();
    expect(scene.authority.orders.length).toBe(1);
  },

  "a folder with notes of another form is one without": async (scene) => {
    mkdirSync(scene.folder.path, { recursive: true });
    const path = join(scene.folder.path, "attempts.json");
    for (const notes of [{ lastAt: { [NAME]: "then" }, notBeforeAt: {} }, { lastAt: { [NAME]: null } }, null, []]) {
      writeFileSync(path, JSON.stringify(notes));
      expect(scene.folder.attempts()).toEqual({ lastAt: {}, notBeforeAt: 0 });
    }
    writeFileSync(path, JSON.stringify({ lastAt: { [NAME]: "then" }, notBeforeAt: "soon" }));
    await scene.start();
    expect(scene.authority.orders.length).toBe(1);
  },

  "a folder keeps the key of the account, the same for all processes, for this user alone": async (scene) => {
    const key = scene.folder.accountKey();
    expect(scene.folder.accountKey()).toBe(key);
    expect(readFileSync(join(scene.folder.path, "account.key"), "utf8")).toBe(key);
    expect(modeOf(join(scene.folder.path, "account.key"))).toBe(0o600);
  },

  "a folder whose key of the account is damaged says which file it is": async (scene) => {
    scene.folder.accountKey();
    const path = join(scene.folder.path, "account.key");
    writeFileSync(path, readFileSync(path).subarray(0, 60));
    expect(() => scene.folder.accountKey()).toThrow(
      `${path} holds no private key. Restore it from a backup, or remove it`,
    );
  },

  "the key of a certificate stays the same until there is one, so that an order can go on": async (scene) => {
    const keys: string[] = [];
    scene.authority.refuses = ({ key }) => {
      keys.push(key);
      return keys.length < 5 ? { because: "the order is processing", retryAfterMs: null, concerns: "name" } : null;
    };
    await scene.start();
    await scene.pass(2 * HOUR);
    expect([keys.length, new Set(keys).size]).toEqual([5, 1]);
    await scene.pass(45 * DAY);
    expect(new Set(keys).size).toBe(2);
  },
};
