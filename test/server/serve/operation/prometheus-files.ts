import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../../docs/prometheus/", import.meta.url));

export const ALERTS = "alerts.yml";
export const ALERT_TESTS = "alerts.test.yml";
export const BOARD = "grafana.json";

/** The metrics of Tidemark that a file in `docs/prometheus` names. */
export function metricsNamedIn(file: string): string[] {
  return [...new Set(prometheusFile(file).match(/tidemark_[a-z_]+/g))];
}

/** The metrics that a server exposes, each with its type: those of a histogram by all names of their samples. */
export function metricsExposed(text: string): Set<string> {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name, type]) =>
      type === "histogram" ? ["_bucket", "_sum", "_count"].map((suffix) => name + suffix) : [name!],
    ),
  );
}

/** The text of a file in `docs/prometheus`. */
export function prometheusFile(file: string): string {
  return readFileSync(join(FOLDER, file), "utf8");
}

/** The queries of the board, with what Grafana puts in for its variables. */
export function queriesOfBoard(): string[] {
  const { panels } = JSON.parse(prometheusFile(BOARD)) as {
    panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  const put: Readonly<Record<string, string>> = { $pop: ".*", $__range: "1d", $__rate_interval: "5m" };
  return panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replace(/\$(?:pop|__range|__rate_interval)\b/g, (name) => put[name]!)),
  );
}

/** Rules that record what the board asks, so that Prometheus reads its queries: the file, in a folder of its own. */
export function boardAsRules(): { readonly file: string; readonly count: number; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-board-"));
  const file = join(folder, "board.yml");
  const rules = queriesOfBoard().map((expr, index) => ({ record: `board:${index}`, expr }));
  writeFileSync(file, JSON.stringify({ groups: [{ name: "board", rules }] }));
  return { file, count: rules.length, remove: () => rmSync(folder, { recursive: true }) };
}

const [HEAD = "", ...ALERT_TEST_GROUPS] = prometheusFile(ALERT_TESTS).split(/^(?= {2}- name: )/m);

const intervalOf = (group: string) => /^ {4}interval: (\w+)$/m.exec(group)![1]!;

/** How far apart the samples of the tests of alerts are. */
export function alertIntervals(): ReadonlySet<string> {
  return new Set(ALERT_TEST_GROUPS.map(intervalOf));
}

/** The tests of alerts whose samples are so far apart: a file, in a folder of its own beside the alerts. */
export function alertTestsEvery(interval: string): { readonly file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-alerts-"));
  const file = join(folder, ALERT_TESTS);
  writeFileSync(join(folder, ALERTS), prometheusFile(ALERTS));
  writeFileSync(file, HEAD + ALERT_TEST_GROUPS.filter((group) => intervalOf(group) === interval).join(""));
  return { file, remove: () => rmSync(folder, { recursive: true }) };
}

/** What promtool says, in the folder of the files; `null` where it is not installed. */
export function promtool(args: readonly string[], input?: string): { status: number | null; said: string } | null {
  const { error, status, stdout, stderr } = spawnSync("promtool", args, { cwd: FOLDER, encoding: "utf8", input });
  return error ? null : { status, said: `${stdout}${stderr}` };
}
