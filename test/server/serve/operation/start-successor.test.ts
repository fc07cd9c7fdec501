import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { endsWithUs, nodeFor, type Surroundings } from "../../../../server/supervisor/start-successor.ts";

const alone: Surroundings = { pid: 70, ppid: 60, init: "systemd", environment: {} };
const ofUnit = { SYSTEMD_EXEC_PID: "70" };

test.each<[string, Partial<Surroundings>, string | null]>([
  ["in a shell", {}, null],
  ["in a shell of a unit, which is not its main process", { environment: { SYSTEMD_EXEC_PID: "60" } }, null],
  ["as process 1 of a container", { pid: 1, ppid: 0 }, "a container ends"],
  ["below the first process of a container", { ppid: 1, init: "docker-init" }, "a container ends"],
  ["below systemd itself", { ppid: 1 }, null],
  ["as a unit that tells systemd nothing", { ppid: 1, environment: ofUnit }, "unless it has Type=notify"],
  ["as a unit of Type=notify", { ppid: 1, environment: { ...ofUnit, NOTIFY_SOCKET: "/run/systemd/notify" } }, null],
])("whether a successor would end with the server: %s", (_, surroundings, because) => {
  const said = endsWithUs({ ...alone, ...surroundings });
  if (because === null) expect(said).toBeNull();
  else expect(said).toContain(because);
});

test("a successor runs on the Node of its archive, by the link that an upgrade changes, and elsewhere on this one", () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const part of ["0.1.0/bin", "0.1.0/lib"]) mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, "0.1.0/bin/node"), "");
  symlinkSync("0.1.0", join(folder, "current"));
  expect(nodeFor(join(folder, "current/lib/cli.mjs"))).toBe(join(folder, "current/bin/node"));
  // A command beside a Node is no archive: that Node may be any other.
  expect(nodeFor(join(folder, "current/bin/tidemark"))).toBe(process.execPath);
  expect(nodeFor("/nowhere/lib/cli.mjs")).toBe(process.execPath);
});
