import type { ProcessStats } from "../wire/machine-stats.ts";
import type { SiteStats } from "../wire/stats.ts";
import { counted, memorySize, size, whole } from "../wire/text/numbers.ts";
import { byClient } from "../wire/text/stats-text.ts";
import { stackedBar } from "./charts.ts";
import { type Child, h, named, table } from "./elements.ts";
import { time } from "./words.ts";

/** From this share, a bounded resource is about to run out. */
const NEARLY_ALL = 0.9;
const DAY_MS = 86_400_000;
/** The days left of a certificate with a full bar, and of one that must be renewed. */
const [MOST_DAYS, FEW_DAYS] = [90, 9];

/**
 * A server's machine at that moment: its usage with limits, and its processes. Nothing on Workers. Only those who got no
 * turn are of the chosen time, like the rest of the page.
 */
export function machineParts({ machine, to, queue }: SiteStats): Child[] {
  if (!machine) return [];
  const { name, memory, disk, origin, processes, certificates } = machine;
  const refused = byClient(queue.turnedAway);
  const days = (expiresAt: string) => Math.max(0, Math.floor((Date.parse(expiresAt) - Date.parse(to)) / DAY_MS));
  return [
    h("h2", "Machine"),
    h("p", { class: "soft" }, `${name}, at this moment.`),
    h(
      "ul",
      { class: "tiles" },
      usage("Memory", memory.bytes, memory.maxBytes, memorySize),
      disk &&
        usage(
          "Disk",
          disk.usedBytes,
          disk.maxBytes,
          size,
          disk.freeBytes !== null && `${size(disk.freeBytes)} free, `,
          `${whole(disk.evictions)} evicted`,
        ),
      origin &&
        usage(
          "At the origin",
          origin.running,
          origin.concurrency,
          whole,
          `${whole(origin.waiting)} of ${whole(origin.maxWaiting)} wait`,
          origin.waiting > 0 && `, the first for ${time(origin.longestWaitMs)}`,
          refused && `; got no turn in the chosen time${refused}`,
        ),
      ...certificates.map(({ file, names: [host = file], expiresAt }) => {
        const left = days(expiresAt);
        const color = left > FEW_DAYS ? "c0" : "c2";
        return tile(host, color, Math.min(left, MOST_DAYS), MOST_DAYS, `valid for ${counted(left, "day")}`, file);
      }),
    ),
    table(
      "Processes",
      ["Process", "Resident ", "Open files ", "Connections ", "Pages ", "Evicted "],
      processes.map(processRow),
    ),
  ];
}

function processRow({ name, isDraining, residentBytes, openFiles, maxOpenFiles, worker }: ProcessStats): Child[] {
  return [
    named(name, isDraining ? "finishes its answers" : ""),
    size(residentBytes),
    openFiles !== null && ofMost(openFiles, maxOpenFiles),
    ...(worker
      ? [
          ofMost(worker.connections, worker.maxConnections),
          whole(worker.memory.entries),
          whole(worker.memory.evictions),
        ]
      : ["", "", ""]),
  ];
}

function ofMost(value: number, most: number | null): string {
  return most === null ? whole(value) : `${whole(value)} of ${whole(most)}`;
}

/** The usage of a resource, with details. */
function usage(
  name: string,
  used: number,
  most: number,
  format: (value: number) => string,
  ...more: readonly Child[]
): HTMLElement {
  const color = used < most * NEARLY_ALL ? "c0" : "c2";
  return tile(name, color, used, most, `${format(used)} of ${format(most)}`, ...more);
}

function tile(name: string, color: string, part: number, all: number, words: string, ...more: Child[]): HTMLElement {
  const bar = stackedBar("share", [[color, part]], all);
  return h("li", { class: "tile" }, h("b", name), bar, h("span", words), h("br"), h("span", ...more));
}
