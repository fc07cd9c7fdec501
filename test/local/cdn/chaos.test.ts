import { type Cdn, type CdnAnswer, startCdn } from "tidemark/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import "tidemark/local/matchers";
import { page } from "./pages.ts";

type Region = "fra" | "syd";

/** A fault in one region or in all of them, and its end. */
interface Fault {
  readonly name: string;
  begin(cdn: Cdn<Region>): Promise<unknown>;
  end(cdn: Cdn<Region>): Promise<unknown>;
}

const endsByItself = async () => undefined;

const FAULTS: readonly Fault[] = [
  { name: "the origin is down", begin: (cdn) => cdn.origin.goDown(), end: (cdn) => cdn.origin.comeUp() },
  {
    name: "syd loses two answers of the origin",
    begin: (cdn) => cdn.pop("syd").loseAnswers({ origin: 2 }),
    end: (cdn) => cdn.pop("syd").loseAnswers({}),
  },
  {
    name: "syd loses two answers of the log",
    begin: (cdn) => cdn.pop("syd").loseAnswers({ log: 2 }),
    end: (cdn) => cdn.pop("syd").loseAnswers({}),
  },
  { name: "syd is partitioned", begin: (cdn) => cdn.pop("syd").partition(), end: (cdn) => cdn.pop("syd").heal() },
  {
    name: "syd cannot reach the log",
    begin: (cdn) => cdn.pop("syd").cutFromLog(),
    end: (cdn) => cdn.pop("syd").reconnectToLog(),
  },
  { name: "the log is down", begin: (cdn) => cdn.log.stop(), end: (cdn) => cdn.log.start() },
  { name: "an isolate of syd is killed", begin: (cdn) => cdn.pop("syd").killIsolate(), end: endsByItself },
  { name: "the cache of syd is emptied", begin: (cdn) => cdn.pop("syd").emptyCache(), end: endsByItself },
  { name: "syd is restarted", begin: (cdn) => cdn.pop("syd").restart(), end: endsByItself },
  {
    name: "the clock of syd is an hour behind",
    begin: (cdn) => cdn.skew("syd", "-1h"),
    end: (cdn) => cdn.skew("syd", "0s"),
  },
  { name: "the log is recreated", begin: (cdn) => cdn.log.recreate(), end: endsByItself },
  { name: "the log is restarted", begin: (cdn) => cdn.log.restart(), end: endsByItself },
];

/** One of each kind: the origin, the log, the way to it, and an isolate. */
const IN_THE_GATE: readonly string[] = [
  "the origin is down",
  "the log is down",
  "syd cannot reach the log",
  "an isolate of syd is killed",
];

const ALONE = FAULTS.map((fault) => [fault]);
const isInTheGate = (faults: readonly Fault[]) => faults.every(({ name }) => IN_THE_GATE.includes(name));
const ALL_PAIRS = FAULTS.flatMap((first, index) => FAULTS.slice(index + 1).map((second) => [first, second]));

let cdn: Cdn<Region>;

beforeAll(async () => {
  cdn = await startCdn({ site: {}, regions: ["fra", "syd"] });
});

afterAll(() => cdn.close());

/** The origin's whole page, a 502, or no answer; never half a page or another page. */
function isPageOrError(answer: CdnAnswer | null): boolean {
  if (answer === null) return true;
  return !answer.cutOff && (answer.status === 200 ? /^v\d$/.test(answer.body) : answer.status === 502);
}

async function ask(path: string, from: Region): Promise<CdnAnswer | null> {
  try {
    return await cdn.get(path, { from });
  } catch (error) {
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    return null;
  }
}

/** Sends a purge until it is accepted. It has an id, because it may have been carried out without an answer. */
async function purge(path: string, id: string): Promise<{ settlesInMs: number } | null> {
  for (const from of ["syd", "fra"] as const) {
    const request = {
      from,
      method: "POST",
      token: cdn.token,
      fields: { "content-type": "application/json" },
      body: JSON.stringify({ urls: [path], id }),
    };
    const answer = await cdn.request("/_tidemark/purge", request).catch(() => null);
    if (answer?.status === 200) return JSON.parse(answer.body) as { settlesInMs: number };
  }
  return null;
}

describe.each([
  ["each fault alone", ALONE.filter(isInTheGate), []],
  ["each other fault alone", ALONE.filter((faults) => !isInTheGate(faults)), ["deep"]],
  ["pairs of faults", ALL_PAIRS, ["deep"]],
] as const)("%s", (_, cases, tags) => {
  test.each(cases.map((faults) => ({ name: faults.map(({ name }) => name).join(", and "), faults })))(
    "$name",
    { tags: [...tags] },
    async ({ name, faults }) => {
      const path = `/${name.replaceAll(/\W+/g, "-")}`;
      cdn.origin.reply(path, page("v1"));
      for (const from of ["fra", "syd"] as const) await expect(cdn.get(path, { from })).toBeStored();

      try {
        for (const fault of faults) await fault.begin(cdn);
        cdn.origin.reply(path, page("v2"));
        for (const from of ["fra", "syd"] as const) expect(await ask(path, from)).toSatisfy(isPageOrError);

        // A purge that settles while the faults last: no PoP shows v1 any more, whatever else is wrong.
        const during = await purge(path, `${path}-during`);
        if (during !== null) await cdn.settle(during);
        for (const from of ["fra", "syd", "fra", "syd"] as const) {
          const answer = await ask(path, from);
          expect(answer).toSatisfy(isPageOrError);
          if (during !== null) expect(answer?.body).not.toBe("v1");
        }
      } finally {
        for (const fault of faults) await fault.end(cdn);
      }

      await cdn.settle((await purge(path, `${path}-after`))!);
      // Until a PoP reaches the log again, it stores nothing, so it would fetch the page once more.
      const other = `${path}-other`;
      cdn.origin.reply(other, page("v1"));
      for (const from of ["fra", "syd"] as const)
        await expect.poll(async () => (await cdn.get(other, { from })).xCache).toBe("HIT");
      const seenBefore = cdn.origin.countOf(path);
      for (const from of ["fra", "syd"] as const) {
        await expect(cdn.get(path, { from })).toNeverShow("v1");
        await expect(cdn.get(path, { from })).toBeStored();
      }
      // Each PoP fetches the purged page once and then keeps it.
      expect(cdn.origin.countOf(path) - seenBefore).toBe(2);
    },
  );
});
