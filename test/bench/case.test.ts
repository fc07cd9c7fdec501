import { expect, test } from "vitest";
import { endurance } from "../../bench/cases/endurance.ts";
import { hit } from "../../bench/cases/hit.ts";
import { BenchFailure } from "../../bench/frame/bench-failure.ts";
import { chosenBy, commandOf } from "../../bench/frame/case.ts";

const ROWS = [{ name: "mixed load" }, { name: "idle connections" }, { name: "slow readers" }];

test.each([
  [undefined, ["mixed load", "idle connections", "slow readers"]],
  ["idle", ["idle connections"]],
  ["SLOW, mixed", ["mixed load", "slow readers"]],
])("Of the rows, the words %j choose %j", (words, names) => {
  expect(chosenBy(words, ROWS).map(({ name }) => name)).toEqual(names);
});

test("A word that no name has ends the bench, which says what there is", async () => {
  const wrong = new BenchFailure('No name has "mxied". There are "mixed load", "idle connections", "slow readers".');
  expect(() => chosenBy("idle, mxied", ROWS)).toThrow(wrong);
  await expect(endurance.measure({ rows: "mxied" } as never)).rejects.toThrow(/No name has "mxied"/);
});

test.each(["abc", "0", "1.5"])("A number of pages like %s is refused", async (files) => {
  const command = commandOf(hit as never)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  await expect(command.parseAsync(["--files", files], { from: "user" })).rejects.toThrow(/must be a whole number/);
});
