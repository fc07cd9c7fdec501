import { expect, test } from "vitest";
import { memoryLimitBytes } from "../../../server/machine/memory-limit.ts";

const MIB = 1024 * 1024;
/** What version 1 has in place of no limit. */
const NO_LIMIT_OF_V1 = "9223372036854771712";

const ofV1 = (bytes: string | number) =>
  `cache 4096\nhierarchical_memory_limit ${bytes}\nhierarchical_memsw_limit ${NO_LIMIT_OF_V1}\n`;
const max = (bytes: string | number) => `${bytes}\n`;

test.each<[of: string, groups: string, files: Readonly<Record<string, string>>, limitBytes: number]>([
  ["its own group", "0::/web\n", { "web/memory.max": max(512 * MIB) }, 512 * MIB],
  [
    "a slice above its own group",
    "0::/edge.slice/edge.service\n",
    { "edge.slice/edge.service/memory.max": max("max"), "edge.slice/memory.max": max(512 * MIB) },
    512 * MIB,
  ],
  [
    "the lowest of several groups",
    "0::/pods/pod/container\n",
    {
      "pods/pod/container/memory.max": max(2048 * MIB),
      "pods/pod/memory.max": max(768 * MIB),
      "pods/memory.max": max(4096 * MIB),
    },
    768 * MIB,
  ],
  [
    "a group that is slowed down before it is at its limit",
    "0::/edge.slice/edge.service\n",
    { "edge.slice/memory.max": max(768 * MIB), "edge.slice/memory.high": max(512 * MIB) },
    512 * MIB,
  ],
  ["the mount, which is the container's own group", "0::/\n", { "memory.max": max(512 * MIB) }, 512 * MIB],
  ["the mount, beside which another process is", "0::/../../other\n", { "memory.max": max(512 * MIB) }, 512 * MIB],
  [
    "a group of version 1, which knows those above it",
    "5:cpuset:/web\n4:cpu,memory:/web/one\n1:name=systemd:/init.scope\n",
    { "memory/web/one/memory.stat": ofV1(512 * MIB) },
    512 * MIB,
  ],
  [
    "a container of version 1, which is told its path on the machine",
    "4:memory:/docker/f0df\n",
    { "memory/memory.stat": ofV1(512 * MIB) },
    512 * MIB,
  ],
  [
    "version 1 beside version 2",
    "4:memory:/web\n0::/system.slice/edge.service\n",
    { "memory/web/memory.stat": ofV1(512 * MIB), "unified/system.slice/edge.service/cgroup.procs": "1\n" },
    512 * MIB,
  ],
  ["version 1 without a limit", "4:memory:/\n", { "memory/memory.stat": ofV1(NO_LIMIT_OF_V1) }, Number(NO_LIMIT_OF_V1)],
  ["version 2 without a limit", "0::/web\n", { "web/memory.max": max("max") }, Number.POSITIVE_INFINITY],
  ["groups of which nothing is mounted", "4:memory:/web\n0::/\n", {}, Number.POSITIVE_INFINITY],
])("the limit for the memory is that of %s", (_, groups, files, limitBytes) => {
  const texts = new Map(Object.entries(files).map(([path, text]) => [`/sys/fs/cgroup/${path}`, text]));
  texts.set("/proc/self/cgroup", groups);
  expect(memoryLimitBytes((path) => texts.get(path) ?? null)).toBe(limitBytes);
});

test("a system without control groups has no limit for the memory", () => {
  expect(memoryLimitBytes(() => null)).toBe(Number.POSITIVE_INFINITY);
});
