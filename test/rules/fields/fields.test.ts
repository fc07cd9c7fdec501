import { describe, expect, test } from "vitest";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { chances } from "../../engine/chances.ts";

const NAMES = ["cache-control", "vary", "set-cookie", "x-a", "etag"];

/** The lines as the web's `Headers` lists them: by name, and cookies in their order. */
function sorted(fields: Iterable<readonly [name: string, value: string]>): (readonly [string, string])[] {
  return [...fields].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

describe("the fields of a message", () => {
  test.each(Array.from({ length: 200 }, (_, seed) => [seed + 1]))(
    "are the same as those of Headers after the same calls: seed %i",
    (seed) => {
      const random = chances(seed);
      const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!;
      const fields = new Fields();
      const headers = new Headers();
      for (let step = 0; step < 20; step++) {
        const name = pick(NAMES);
        const value = `v${step}`;
        const call = pick(["append", "append", "set", "delete"] as const);
        if (call === "set" && name === "set-cookie") continue; // nobody replaces cookies
        for (const each of [fields, headers]) call === "delete" ? each.delete(name) : each[call](name, value);
        for (const other of NAMES) {
          expect([fields.get(other), fields.has(other)]).toEqual([headers.get(other), headers.has(other)]);
        }
        expect(fields.getSetCookie()).toEqual(headers.getSetCookie());
      }
      expect(sorted(fields)).toEqual(sorted(headers));
    },
  );

  test("are in lower case, in their order of arrival, with all lines of a name joined", () => {
    const lines = [
      ...new Fields([
        ["Vary", "a"],
        ["ETag", '"1"'],
        ["VARY", "b"],
      ]),
    ];
    expect(lines).toEqual([
      ["vary", "a, b"],
      ["etag", '"1"'],
    ]);
  });

  test("do not change when a copy of them changes", () => {
    const first = new Fields([["via", "1.1 inner"]]);
    const copy = Fields.copy(first);
    copy.append("via", "1.1 tidemark");
    expect(first.get("via")).toBe("1.1 inner");
  });
});
