import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

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

test("every picture of the dashboard is shown or linked", () => {
  const pictures = readdirSync("docs/pictures").filter((file) => file.endsWith(".png"));
  expect(pictures.filter((file) => !page.includes(`(pictures/${file})`))).toEqual([]);
});
