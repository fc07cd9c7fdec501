import { expect, test } from "vitest";
import { isJournal, ownLine } from "../../server/own-lines.ts";

test.each([
  { name: "the stream that systemd names", named: "8:2147483649", expected: true },
  { name: "another file on its device", named: "8:12", expected: false },
  { name: "a file of its number on another device", named: "9:2147483649", expected: false },
  { name: "no stream named", named: undefined, expected: false },
  { name: "an empty name", named: "", expected: false },
])("standard error goes to the journal: $name: $expected", ({ named, expected }) => {
  expect(isJournal({ dev: 8n, ino: 2147483649n }, named)).toBe(expected);
});

test("a line has the time in UTC before it, unless its reader notes that", () => {
  expect(ownLine("tidemark: stopping", Date.UTC(2026, 0, 2, 3, 4, 5, 6))).toBe(
    "2026-01-02T03:04:05.006Z tidemark: stopping",
  );
  expect(ownLine("tidemark: stopping", null)).toBe("tidemark: stopping");
});
