import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FIRST_PAUSE_MS, LEAST_PAUSE_MS, pauseAfter } from "../../server/acme/attempts.ts";

const page = readFileSync("docs/operations.md", "utf8");

/** The first cells of the rows of the table below a heading. */
function rowsBelow(heading: string): string[] {
  const section = page.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!);
}

test("each alert has one row that says what to look at, and no row is about an alert that is gone", () => {
  const alerts = [...readFileSync("docs/prometheus/alerts.yml", "utf8").matchAll(/- alert: (\w+)/g)];
  expect(alerts.length).toBeGreaterThan(10);
  expect(rowsBelow("An alarm rang").sort()).toEqual(alerts.map(([, name]) => name!).sort());
});

test("it says when the next attempt for a certificate is", () => {
  const minutes = (ms: number) => ms / 60_000;
  const { name, authority } = FIRST_PAUSE_MS;
  const most = minutes(pauseAfter(100, "name", null, 0)) / 60;
  expect(page.replace(/\s+/g, " ")).toContain(
    `: after ${minutes(name)} minutes, or ${minutes(authority)} if the authority is unreachable, doubling up to ${most} hours. ` +
      `SIGHUP tries at once, if the last attempt is ${minutes(LEAST_PAUSE_MS)} minutes ago.`,
  );
});

test("every picture of the dashboard is shown or linked", () => {
  const pictures = readdirSync("docs/pictures").filter((file) => file.endsWith(".png"));
  expect(pictures.filter((file) => !page.includes(`(pictures/${file})`))).toEqual([]);
});
