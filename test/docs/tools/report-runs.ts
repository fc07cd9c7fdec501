import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { replayLogs } from "../../../tools/replay/replay-logs.ts";
import { replayText } from "../../../tools/replay/replay-text.ts";
import { analyseLogs } from "../../../tools/report/analyse-logs.ts";
import { reportText } from "../../../tools/report/report-text.ts";
import { generatedLog } from "../../tools/generated-log.ts";

/** The page that shows the runs, between comments that name them. */
export const REPORT_PAGE = "docs/tools.md";

/** The runs on the page. */
export const RUNS = ["report", "limit", "replay"] as const;

/** The text of the page with these runs of `report` and `replay` made anew. */
export async function withRuns(page: string, names: readonly (typeof RUNS)[number][] = RUNS): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-docs-"));
  try {
    const log = join(folder, "access.log");
    writeFileSync(log, generatedLog({ seed: 1, requests: 4_000, days: 1 }));
    const report = await analyseLogs({ files: [log] });
    const runs: Record<string, string> = {};
    if (names.includes("report")) runs.report = shown("tidemark report access.log", reportText(report));
    if (names.includes("limit")) runs.limit = await limitedRun(folder);
    if (names.includes("replay")) runs.replay = await replayRun(folder, log, report.config);
    return page.replace(
      /(<!-- run: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
      (run, begin: string, name: string, end: string) => (name in runs ? `${begin}${runs[name]}${end}` : run),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function limitedRun(folder: string): Promise<string> {
  const busy = join(folder, "ten-minutes.log");
  writeFileSync(busy, generatedLog({ seed: 1, requests: 4_000, days: 10 / 1440 }));
  const limited = reportText(await analyseLogs({ files: [busy], limit: { concurrency: 2, originMs: 1200 } }));
  return shown(
    "tidemark report ten-minutes.log --concurrency 2 --origin-ms 1200",
    `…\n${sectionOf(limited, "With 2 requests at a time")}`,
  );
}

async function replayRun(folder: string, log: string, config: string): Promise<string> {
  const configs = { hour: join(folder, "an-hour.config.ts"), day: join(folder, "a-day.config.ts") };
  writeFileSync(configs.hour, config);
  writeFileSync(configs.day, config.replaceAll('"1h"', '"1d"'));
  const replay = await replayLogs({
    files: [log],
    configs: [configs.hour, configs.day],
    cacheControl: null,
    memoryBytes: null,
    oneIn: null,
  });
  return shown(
    "tidemark replay access.log --config an-hour.config.ts --config a-day.config.ts",
    replayText({
      ...replay,
      edges: replay.edges.map((edge) => ({ ...edge, config: edge.config!.slice(folder.length + 1) })),
    }),
  );
}

/** The section of a report that begins so. */
function sectionOf(report: string, heading: string): string {
  return report.split("\n\n").find((section) => stripVTControlCharacters(section).startsWith(heading))!;
}

function shown(command: string, output: string): string {
  return `\`\`\`text\n$ ${command}\n${stripVTControlCharacters(output).trimEnd()}\n\`\`\`\n`;
}
