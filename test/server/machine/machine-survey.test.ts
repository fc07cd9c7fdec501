import { expect, test } from "vitest";
import { seenBySite, withoutDead } from "../../../server/machine/machine-survey.ts";

test("a site sees the certificates for its own hosts, and one that is alone sees all", () => {
  const certificate = (...names: string[]) => ({ file: names.join(), names, expiresAt: "2026-01-01T00:00:00.000Z" });
  const machine = {
    name: "edge",
    memory: { bytes: 0, maxBytes: 0 },
    disk: null,
    log: { freeBytes: 1e9 },
    processes: [],
    workerDeaths: 0,
    certificates: [
      certificate("www.shop.test"),
      certificate("*.shop.test"),
      certificate("blog.test"),
      certificate("*.test"),
      certificate(),
    ],
  };
  const files = (hosts: readonly string[] | null, hostsOfOthers: readonly string[] = []) =>
    seenBySite(machine, { name: "shop", hosts, hostsOfOthers }, true).certificates.map(({ file }) => file);
  expect(files(["www.shop.test", "shop.test"])).toEqual(["www.shop.test", "*.shop.test", "*.test"]);
  expect(files(["www.shop.test:8443"])).toEqual(["www.shop.test", "*.shop.test"]);
  expect(files(["other.example"])).toEqual([]);
  expect(files(null)).toHaveLength(5);
  expect(files(null, ["www.shop.test:8443"])).toEqual(["blog.test", "*.test", ""]); // it takes any other host
});

test("a site sees the queue for its own origin, of each worker and of all together", () => {
  const process = { pid: 7, residentBytes: 0, openFiles: null, maxOpenFiles: null, isDraining: false };
  const memory = { entries: 0, bytes: 0, maxBytes: 0, evictions: 0 };
  const queue = (running: number, waiting: number, longestWaitMs: number) => {
    return { running, concurrency: 4, waiting, maxWaiting: 100, longestWaitMs };
  };
  const worker = (name: string, origins: Record<string, ReturnType<typeof queue>>) => {
    return { ...process, name, worker: { connections: 0, maxConnections: 9, memory, origins } };
  };
  const machine = {
    name: "edge",
    memory: { bytes: 0, maxBytes: 0 },
    disk: null,
    log: { freeBytes: 1e9 },
    processes: [
      { ...process, name: "supervisor", worker: null },
      worker("worker-1", { shop: queue(3, 2, 150), blog: queue(9, 9, 9) }),
      worker("worker-2", { shop: queue(1, 5, 40) }),
    ],
    workerDeaths: 0,
    certificates: [],
  };
  const seen = seenBySite(machine, { name: "shop", hosts: ["www.shop.test"], hostsOfOthers: [] }, true);
  expect(seen.origin).toEqual({ running: 4, concurrency: 4, waiting: 7, maxWaiting: 200, longestWaitMs: 150 });
  expect(seen.processes.map((each) => each.worker?.origin?.waiting)).toEqual([undefined, 2, 5]);
  expect(JSON.stringify(seen)).not.toContain("blog");
  expect(seen.inWords).toContain(
    "4 of 4 requests are at the origin; 7 of 200 wait for their turn, the longest for 150 ms.",
  );
  expect(seenBySite(machine, { name: "wiki", hosts: ["wiki.test"], hostsOfOthers: [] }, true).origin).toBeNull();
});

test("workers that have died without a report count as silent, and their part of the memory does not count", () => {
  const process = { pid: 7, residentBytes: 0, openFiles: null, maxOpenFiles: null, isDraining: false };
  const memory = { entries: 0, bytes: 0, maxBytes: 0, evictions: 0 };
  const worker = { connections: 0, maxConnections: 9, memory, origin: null };
  const processes = [
    { ...process, name: "supervisor", worker: null },
    { ...process, name: "worker-1", worker },
    { ...process, name: "worker-4", worker },
  ];
  const reported = { reported: 5, silent: 1, heardMs: 0, unheardMs: 0, heardShare: 1 };
  const isolates = { ...reported, alive: 4, memoryBytes: 400, memoryMaxBytes: 1200 };
  expect(withoutDead(isolates, { processes })).toEqual({
    ...reported,
    ...{ silent: 3, alive: 2, memoryBytes: 200, memoryMaxBytes: 600 },
  });
});
