import { afterEach, expect, test, vi } from "vitest";
import { flood } from "../../bench/cases/flood.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  ["tidemark", 60, "4 rows of 91 s, and 10 minutes until sessions at Tidemark are old enough: about 16 minutes."],
  ["bare,tidemark", 60, "8 rows of 91 s, and 4 minutes until sessions at Tidemark are old enough: about 16 minutes."],
  ["bare,tidemark", 200, "8 rows of 231 s: about 31 minutes."],
])(
  "The flood on %j, rows of %i s, says beforehand how long it takes",
  { tags: ["gate"] },
  async (peers, seconds, words) => {
    const printed = vi.spyOn(console, "log").mockReturnValue();
    const startsNothing = { seconds, peers, tidemark: "false" };
    await expect(flood.measure(startsNothing)).rejects.toThrow("tidemark serve did not start");
    expect(printed.mock.calls.join("\n")).toBe(words);
  },
);
