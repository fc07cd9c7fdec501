import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, test } from "vitest";
import { LedgerFile } from "../../../server/postgres/ledger-file.ts";
import { report } from "../../purges/log/a-report.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const PAGE_BYTES = 4096;

let folder: string;
let ledger: LedgerFile;
const open = () => new LedgerFile(folder, () => NOW);
const requests = (lastMs: number | null = 3_600_000) => ledger.read(lastMs, null).counts.requests ?? 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-ledger-"));
  ledger = open();
  ledger.take(report());
  return () => {
    ledger.close();
    rmSync(folder, { recursive: true });
  };
});

/** The server ends, the file is damaged from this byte on, and the server starts again. */
function damageFrom(byte: number): void {
  ledger.close();
  const path = join(folder, "ledger.sqlite");
  writeFileSync(path, readFileSync(path).fill(0xa5, byte));
  ledger = open();
}

test("no file is mapped into memory, where a full disk that copies on write would kill the server", () => {
  expect(readdirSync(folder).toSorted()).toEqual(["ledger.sqlite", "ledger.sqlite-wal"]);
});

test("the counts are there after a restart, and the totals begin at 0, so that they never fall to another number", () => {
  expect(requests(null)).toBe(10);
  ledger.close();
  ledger = open();
  expect([requests(), requests(null)]).toEqual([10, 0]);
  ledger.take(report({ number: 2 }));
  expect([requests(), requests(null)]).toEqual([20, 10]);
});

test.each([
  ["at the start", 0, 0],
  ["with the first report", PAGE_BYTES, 1],
])("a damaged file is set aside as soon as it is noticed, here %s, and counting begins anew", (_, from, failing) => {
  damageFrom(from);
  for (let times = 0; times < failing; times++) expect(() => ledger.take(report())).toThrow("malformed");
  ledger.take(report({ number: 2 }));
  expect(requests()).toBe(10);
  expect(readdirSync(folder)).toContain("ledger.sqlite.damaged");
});

test("a file that is damaged when somebody reads the counts is set aside, too", () => {
  damageFrom(PAGE_BYTES);
  expect(() => requests()).toThrow("malformed");
  expect(requests()).toBe(0);
});

test("a file with tables of another program is damaged, too", () => {
  ledger.close();
  const other = new DatabaseSync(join(folder, "ledger.sqlite"));
  other.exec("DROP TABLE ledger; CREATE TABLE ledger (of_others TEXT)");
  other.close();
  ledger = open();
  expect(() => ledger.take(report({ number: 2 }))).toThrow("no such");
  ledger.take(report({ number: 2 }));
  expect(requests()).toBe(10);
  expect(readdirSync(folder)).toContain("ledger.sqlite.damaged");
});

test("a file that another process has locked is whole", () => {
  ledger.close();
  const other = new DatabaseSync(join(folder, "ledger.sqlite"));
  other.exec("BEGIN EXCLUSIVE");
  expect(open).toThrow("has locked its .sqlite file");
  other.close();
  ledger = open();
  expect(requests()).toBe(10);
  expect(readdirSync(folder)).not.toContain("ledger.sqlite.damaged");
});
