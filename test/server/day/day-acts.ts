import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type MockInstance, vi } from "vitest";
import { diskFiles } from "../../../server/disk/disk-files.ts";
import { WriterThread } from "../../../server/disk/file-writer.ts";
import { makeCertificate } from "../connections/make-certificate.ts";
import { type Act, type Day, HOUR_MS, type Rules } from "./day.ts";
import type { OriginFault } from "./day-origin.ts";
import { HOST, SHOP, type Visit } from "./day-visitors.ts";
import { type Handshake, visitByTls } from "./tls-visitor.ts";

/** The rules in the morning; from seven on the shop is served, too. */
export const RULES: Rules = {
  hosts: [HOST],
  purge: { leaseMs: 10_000, softForMs: 60_000 },
  limits: { storeBytes: "1MiB" },
};
const RULES_WITH_SHOP: Rules = { ...RULES, hosts: [HOST, SHOP], compression: { minBytes: "4KiB" } };

/** Puts a certificate that is valid until this hour of the day into the folder. */
export function certify(day: Day, name: string, untilHour: number): void {
  const validUntil = new Date(day.begins + untilHour * HOUR_MS);
  const { chain, key } = makeCertificate([name], { validUntil });
  writeFileSync(join(day.tlsFolder, `${name}.crt`), chain);
  writeFileSync(join(day.tlsFolder, `${name}.key`), key);
}

/** What was seen of a few things that are done once or twice in a day. */
export interface Seen {
  /** Whether a reload took the settings. */
  readonly reloads: boolean[];
  readonly handshakes: Handshake[];
  /** The `X-Cache` of a page that was stored before workers or the whole server were replaced. */
  readonly afterwards: (string | null)[];
  /** The answers to calls with a wrong token. */
  readonly refusals: number[];
}

export function actsOfTheDay(seen: Seen): Act[] {
  const reload = async (day: Day) => void seen.reloads.push(await day.server.reload());
  const shake = async ({ server }: Day, worker: 0 | 1, last?: Handshake) => {
    seen.handshakes.push(await visitByTls(server.workers[worker]!.tlsPath, HOST, last?.session));
  };
  /** Stores a page, lets something happen, and asks each worker for the page again. */
  const staysWarm = async (day: Day, happens: () => Promise<unknown>) => {
    const visit = { target: `/watched/${seen.afterwards.length}` };
    await day.visitors.visit(visit);
    await happens();
    for (const visitors of day.everyVisitors) seen.afterwards.push(await visitors.visit(visit));
  };
  /** Pages are purged and asked for at every moment of it: from the workers that answer visitors at that moment. */
  const upgrade = async (day: Day) => {
    let isOver = false;
    const next = day.server.upgrade().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await ask({ target: "/asset/1" })(day);
      await day.purges.purgePage(day.everyVisitors.at(-1)!, "/asset/1");
      await ask({ target: "/asset/1" })(day);
    }
    day.server = await next;
  };
  const fail = (fault: OriginFault) => async (day: Day) => {
    await ask({ target: "/news/0" })(day);
    await day.origin.fail(fault);
  };
  const silence = (isSilent: boolean, workers: readonly number[]) => (day: Day) => {
    for (const worker of workers) day.server.workers[worker]!.isLogSilent = isSilent;
  };
  const step = (seconds: number) => (day: Day) => {
    if (seconds < 0) day.record.steppedBack(-seconds * 1000);
    day.time.step(seconds * 1000);
  };
  const rotate = async (day: Day) => {
    renameSync(day.accessLog, `${day.accessLog}.${day.hourText.replace(":", "")}`);
    await day.server.reopen();
  };
  const full: MockInstance[] = [];
  return [
    { atHour: 0.5, does: step(90) },
    { atHour: 0.7, does: ask({ target: "/news/1" }, { target: "/search/1" }, { target: "/large/1" }) },
    { atHour: 0.7 + 40 / 3600, does: ask({ target: "/news/1" }, { target: "/large/1", range: [1000, 200_000] }) },
    { atHour: 0.7 + 90 / 3600, does: ask({ target: "/search/1", method: "HEAD" }, { target: "/search/1" }) },
    { atHour: 0.75, does: ask({ target: "/missing/1" }, { target: "/article/1", method: "POST" }) },
    {
      atHour: 1,
      does: async (day) => {
        day.configure({ ...RULES, routes: "none" });
        await reload(day);
        day.configure(RULES);
      },
    },
    { atHour: 2, does: rotate },
    { atHour: 2.99, does: ask({ target: "/asset/2" }) },
    { atHour: 3, does: silence(true, [0]) },
    { atHour: 3 + 2 / 60, does: (day) => day.purges.purgePage(day.everyVisitors[1]!, "/asset/2") },
    // Its lease has ended, so that it cannot know.
    { atHour: 3 + 3 / 60, does: ask({ target: "/asset/2" }) },
    { atHour: 3 + 4 / 60, does: silence(false, [0]) },
    { atHour: 4, does: (day) => staysWarm(day, () => upgrade(day)) },
    { atHour: 4.9, does: (day) => shake(day, 0) },
    {
      atHour: 5,
      does: async (day) => {
        certify(day, HOST, 24 * 90);
        await reload(day);
        await shake(day, 0, seen.handshakes[0]);
      },
    },
    { atHour: 6, does: fail("refuses") },
    { atHour: 6 + 2 / 60, does: ask({ target: "/news/0" }, { target: "/search/6" }) },
    { atHour: 6 + 5 / 60, does: (day) => day.origin.comeUp() },
    {
      atHour: 7,
      does: async (day) => {
        day.configure(RULES_WITH_SHOP);
        await staysWarm(day, () => reload(day));
        day.hasShop = true;
      },
    },
    {
      atHour: 8,
      does: async ({ visitors }) => {
        const calls = Array.from({ length: 10 }, () => visitors.call("GET", "purges", undefined, "a guess"));
        for (const { status } of await Promise.all(calls)) seen.refusals.push(status);
      },
    },
    { atHour: 9, does: step(-120) },
    { atHour: 10, does: fail("hangs") },
    { atHour: 10 + 2 / 60, does: ask({ target: "/news/0" }, { target: "/search/10" }) },
    { atHour: 10 + 3 / 60, does: (day) => day.origin.comeUp() },
    { atHour: 11, does: silence(true, [0, 1]) },
    { atHour: 11 + 2 / 60, does: purgeAndAsk },
    { atHour: 11 + 3 / 60, does: silence(false, [0, 1]) },
    { atHour: 11.6, does: (day) => shake(day, 0) },
    { atHour: 11.8, does: (day) => shake(day, 1, seen.handshakes[2]) },
    // Past noon by the clock, which was set.
    { atHour: 12.2, does: (day) => shake(day, 1, seen.handshakes[2]) },
    { atHour: 12.5, does: () => diskIsFull(full) },
    { atHour: 13.5, does: () => full.splice(0).forEach((each) => void each.mockRestore()) },
    { atHour: 14, does: rotate },
    { atHour: 15, does: (day) => staysWarm(day, () => day.server.replace(0)) },
    { atHour: 16, does: fail("errors") },
    { atHour: 16 + 2 / 60, does: ask({ target: "/news/0" }, { target: "/search/16" }) },
    { atHour: 16 + 10 / 60, does: (day) => day.origin.comeUp() },
    { atHour: 17, does: (day) => staysWarm(day, () => upgrade(day)) },
    { atHour: 18, does: step(-3) },
    {
      atHour: 19.5,
      does: (day) =>
        staysWarm(day, async () => {
          await day.server.stop();
          await day.start();
        }),
    },
    { atHour: 20, does: crowd },
    { atHour: 21, does: step(300) },
    // A certificate that nobody has renewed.
    { atHour: 22, does: reload },
    {
      atHour: 23.5,
      does: async (day) => {
        await day.purges.purgePage(day.visitors, "/large/2");
        await ask({ target: "/large/2" })(day);
      },
    },
  ];
}

/** Nothing can be written to the disk until further notice. */
function diskIsFull(full: MockInstance[]): void {
  const fails = async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  };
  full.push(vi.spyOn(WriterThread.prototype, "write").mockImplementation(fails) as MockInstance);
  full.push(vi.spyOn(diskFiles, "write").mockImplementation(fails) as MockInstance);
}

/** Asks each worker for these pages, as long as it accepts visitors. */
function ask(...visits: readonly Visit[]) {
  return async (day: Day) => {
    for (const visitors of day.everyVisitors) {
      for (const visit of visits) if (day.everyVisitors.includes(visitors)) await visitors.visit(visit);
    }
  };
}

async function purgeAndAsk(day: Day): Promise<void> {
  await day.purges.purgeBy(day.visitors);
  await ask({ target: "/home/0" })(day);
}

/** Many ask for one page at one moment, which has just been purged. */
async function crowd(day: Day): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await day.purges.purgeBy(day.visitors);
    const visits = Array.from({ length: 100 }, () => day.visitors.visit({ target: `/article/${round}` }));
    await Promise.all(visits);
  }
}
