import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  defaultMemoryBytes,
  defaultWorkers,
  usableMemoryBytes,
  whyLittleMemory,
} from "../../../../server/startup/memory-room.ts";
import type { IsolateStats } from "../../../../wire/stats.ts";
import { ServerProcess } from "../running-server.ts";

const MIB = 1024 * 1024;
const TOKEN = "a-token-of-this-server-000123456789";

let folder: string;
let server: ServerProcess;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
});
afterEach(async () => {
  expect(await server.stop()).toBe(0);
  rmSync(folder, { recursive: true });
});

/** Starts two workers. Resolves to the memory of the one that answers, and to what the server says of its disk. */
async function boundsOf(args: readonly string[]): Promise<{ readonly memoryBytes: number; readonly disk: string }> {
  const common = ["--origin", "http://127.0.0.1:8000", "--listen", "127.0.0.1:0", "--workers", "2", "--cache", "cache"];
  server = new ServerProcess(folder, [...common, ...args], { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
  const address = await server.address();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(new URL("/_tidemark/stats?scope=isolate", address), { headers });
  const { memory } = (await answer.json()) as IsolateStats;
  return { memoryBytes: memory.maxBytes, disk: (await server.prints(/^ {2}disk +(.*)$/m))[1]! };
}

test("--memory is divided among the workers, and --disk is one for all", async () => {
  const { memoryBytes, disk } = await boundsOf(["--memory", "65m", "--disk", "1536MiB"]);
  expect(memoryBytes).toBe(32.5 * MIB);
  expect(disk).toBe(`${join(folder, "cache", "pages")}  (at most 1.41GiB, and 96MiB for bodies of requests)`);
});

test("without them, there are a quarter of the machine's memory and 10 GiB of disk", { tags: ["deep"] }, async () => {
  const { memoryBytes, disk } = await boundsOf([]);
  expect(memoryBytes).toBe(defaultMemoryBytes(2) / 2);
  expect(disk).toBe(`${join(folder, "cache", "pages")}  (at most 9.38GiB, and 640MiB for bodies of requests)`);
});

test("without --workers, there are as many as the memory beside the pages suffices for", {
  tags: ["deep"],
}, async () => {
  const memory = `${Math.floor(usableMemoryBytes() / MIB) - 500}MiB`;
  const args = ["--origin", "http://127.0.0.1:8000", "--listen", "127.0.0.1:0", "--memory", memory, "--cache", "cache"];
  server = new ServerProcess(folder, args, { TIDEMARK_HOSTS: "*" });
  expect((await server.prints(/with (\d+) workers/))[1]).toBe("1");
});

test.each([
  { of: "a machine", totalBytes: 24 * 1024 * MIB, limitBytes: Number.POSITIVE_INFINITY, memoryBytes: 6 * 1024 * MIB },
  { of: "a container", totalBytes: 24 * 1024 * MIB, limitBytes: 2 * 1024 * MIB, memoryBytes: 512 * MIB },
  { of: "a container without a limit", totalBytes: 1000 * MIB, limitBytes: 2 ** 64, memoryBytes: 250 * MIB },
  { of: "an odd number of bytes", totalBytes: 4 * MIB + 4097, limitBytes: Number.POSITIVE_INFINITY, memoryBytes: MIB },
])("of $of, pages may have a quarter of the memory, in whole mebibytes", ({ totalBytes, limitBytes, memoryBytes }) => {
  expect(defaultMemoryBytes(1, usableMemoryBytes(totalBytes, limitBytes))).toBe(memoryBytes);
});

test.each([
  { usable: 513, workers: 1, memory: 128, fits: true },
  { usable: 512, workers: 1, memory: 128, fits: true },
  { usable: 511, workers: 1, memory: 127, fits: true },
  { usable: 450, workers: 1, memory: 66, fits: true },
  { usable: 416, workers: 1, memory: 32, fits: true },
  { usable: 415, workers: 1, memory: 32, fits: false },
  { usable: 900, workers: 2, memory: 132, fits: true },
  { usable: 831, workers: 2, memory: 64, fits: false },
  { usable: 100, workers: 1, memory: 25, fits: false },
])("of $usable MiB, $memory are for pages by default beside $workers workers, so all fits: $fits", (machine) => {
  const usable = machine.usable * MIB;
  const memoryBytes = defaultMemoryBytes(machine.workers, usable);
  expect(memoryBytes).toBe(machine.memory * MIB);
  expect(whyLittleMemory(memoryBytes, machine.workers, usable) === null).toBe(machine.fits);
});

test.each([
  { usable: 24 * 1024, cores: 2, workers: 2 },
  { usable: 24 * 1024, cores: 64, workers: 48 },
  { usable: 1024, cores: 16, workers: 2 },
  { usable: 512, cores: 4, workers: 1 },
  { usable: 128, cores: 4, workers: 1 },
  { usable: 24 * 1024, cores: 64, memory: 23 * 1024, workers: 2 },
  { usable: 1024, cores: 2, memory: 2048, workers: 1 },
])("of $cores cores and $usable MiB, with $memory for pages, $workers have workers", (machine) => {
  const usable = machine.usable * MIB;
  const memory = machine.memory === undefined ? defaultMemoryBytes(1, usable) : machine.memory * MIB;
  expect(defaultWorkers(memory, machine.cores, usable)).toBe(machine.workers);
});

test.each([
  { memoryBytes: 256 * MIB, workers: 2, usable: 1024 * MIB, why: null },
  {
    memoryBytes: 256 * MIB,
    workers: 4,
    usable: 1024 * MIB,
    why:
      "--workers 4 and --memory 256MiB may take 1.75GiB, but only 1GiB may be used here: set smaller ones or provide more " +
      "memory, or the system may kill workers",
  },
  {
    memoryBytes: 32 * MIB,
    workers: 1,
    usable: 415 * MIB,
    why:
      "--workers 1 and --memory 32MiB may take 416MiB, but only 415MiB may be used here: too little even for one worker; " +
      "provide more memory, or the system may kill workers",
  },
])(
  "of $workers workers that may need more memory than there is, the owner is told: $why",
  ({ memoryBytes, workers, usable, why }) => {
    expect(whyLittleMemory(memoryBytes, workers, usable)).toBe(why);
  },
);
