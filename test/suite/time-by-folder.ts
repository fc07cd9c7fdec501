import { relative, sep } from "node:path";
import { platform } from "node:process";
import type { Reporter, TestModule } from "vitest/node";
import { printTable } from "../../bench/frame/table.ts";

interface Row {
  tests: number;
  notRun: number;
  cpuSeconds: number;
  seconds: number;
}

/** At the end of a run of several folders: how many tests each has, and how long they took. */
export class TimeByFolder implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = new Map<string, Row>();
    for (const module of modules) {
      const folder = relative("test", module.moduleId).split(sep)[0]!;
      const row = rows.get(folder) ?? { tests: 0, notRun: 0, cpuSeconds: 0, seconds: 0 };
      for (const test of module.children.allTests()) {
        if (test.result().state === "skipped") row.notRun++;
        else row.tests++;
      }
      row.cpuSeconds += module.meta().cpuSeconds ?? 0;
      row.seconds += module.diagnostic().duration / 1000;
      rows.set(folder, row);
    }
    if (rows.size < 2) return;
    const sorted = [...rows].sort(([, one], [, other]) => other.cpuSeconds - one.cpuSeconds);
    const cpu = platform === "linux" ? "CPU seconds" : "CPU seconds, without processes that tests start";
    printTable(
      ["folder of test", "tests", "not run", cpu, "seconds"],
      [...sorted, ["all", together(rows)] as const].map(([folder, { tests, notRun, cpuSeconds, seconds }]) => [
        folder,
        String(tests),
        String(notRun),
        cpuSeconds.toFixed(1),
        seconds.toFixed(1),
      ]),
    );
  }
}

function together(rows: ReadonlyMap<string, Row>): Row {
  const sum = { tests: 0, notRun: 0, cpuSeconds: 0, seconds: 0 };
  for (const row of rows.values()) for (const key of Object.keys(sum) as (keyof Row)[]) sum[key] += row[key];
  return sum;
}
