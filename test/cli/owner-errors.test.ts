import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Of the server itself, which tells it in words of its own. */
const NOT_FOR_THE_OWNER = ["WorkerEndedError"];

/** The error classes in the files of a folder. */
function errorsIn(folder: string): { readonly name: string; readonly base: string }[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  return files.flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/^export class (\w+Error) extends (\w+)/gm)].map(
      ([, name, base]) => ({ name: name!, base: base! }),
    ),
  );
}

test("`tidemark serve` and `tidemark backup` print every error class of the server without a stack", () => {
  const errors = errorsIn("server");
  expect(errors.length).toBeGreaterThan(8);
  const withStack = errors.filter(({ base }) => base !== "OwnerError").map(({ name }) => name);
  expect(withStack).toEqual(NOT_FOR_THE_OWNER);
});
