import { expect, test } from "vitest";
import { seenBySite } from "../../../server/machine/machine-survey.ts";
import { Surveys } from "../../../server/machine/surveys.ts";

/** Surveys that end when they are told. Each finds its number. */
function surveysUnderTest() {
  const running: PromiseWithResolvers<number>[] = [];
  const surveys = new Surveys(() => {
    const survey = Promise.withResolvers<number>();
    running.push(survey);
    return survey.promise;
  });
  const end = async (number: number) => {
    running[number - 1]!.resolve(number);
    for (let turn = 0; turn < 10; turn++) await null;
  };
  return { surveys, end, begun: () => running.length };
}

test("those who ask while a survey runs share the next one, and none that began before they asked", async () => {
  const { surveys, end, begun } = surveysUnderTest();
  const first = surveys.ask();
  const [second, third] = [surveys.ask(), surveys.ask()];
  expect(begun()).toBe(1);
  await end(1);
  expect(begun()).toBe(2);
  const fourth = surveys.ask();
  await end(2);
  await end(3);
  expect(await Promise.all([first, second, third, fourth])).toEqual([1, 2, 2, 3]);
  const fifth = surveys.ask();
  expect(begun()).toBe(4);
  await end(4);
  expect(await fifth).toBe(4);
});

test("one that fails does not keep the next one from beginning", async () => {
  let asked = 0;
  const surveys = new Surveys(async () => {
    if (++asked === 1) throw new Error("failed");
    return asked;
  });
  const first = surveys.ask();
  const second = surveys.ask();
  await expect(first).rejects.toThrow("failed");
  expect(await second).toBe(2);
});

test("a site sees the certificates for its own hosts, and one that is alone sees all", () => {
  const certificate = (...names: string[]) => ({ file: names.join(), names, expiresAt: "2026-01-01T00:00:00.000Z" });
  const machine = {
    name: "edge",
    memory: { bytes: 0, maxBytes: 0 },
    disk: null,
    processes: [],
    certificates: [
      certificate("www.shop.test"),
      certificate("*.shop.test"),
      certificate("blog.test"),
      certificate("*.test"),
      certificate(),
    ],
  };
  const files = (hosts: readonly string[] | null) => seenBySite(machine, hosts).certificates.map(({ file }) => file);
  expect(files(["www.shop.test", "shop.test"])).toEqual(["www.shop.test", "*.shop.test", "*.test"]);
  expect(files(["other.example"])).toEqual([]);
  expect(files(null)).toHaveLength(5);
});
