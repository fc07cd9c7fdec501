import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const hasLogrotate = spawnSync("logrotate", ["--version"]).error === undefined;
const NOT_RUN = "the file for logrotate is SKIPPED, because this machine has no logrotate";
if (!hasLogrotate) process.stdout.write(`${NOT_RUN}\n`);

describe.skipIf(!hasLogrotate)(hasLogrotate ? "docs/examples/server/logrotate" : NOT_RUN, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    mkdirSync(join(folder, "logs"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("moves the log away, leaves the new one to the server, and sends SIGUSR1 to the supervisor alone", () => {
    const signal = "systemctl kill --kill-whom=main --signal=USR1 tidemark.service";
    const text = readFileSync("docs/examples/server/logrotate", "utf8")
      .replace("/var/log/tidemark/", `${folder}/logs/`)
      .replace(signal, `echo sent >> ${folder}/signals`);
    expect(text).toContain("echo sent");
    const [config, state] = [join(folder, "config"), join(folder, "state")];
    writeFileSync(config, text, { mode: 0o644 });
    const rotate = () => {
      const { status, stderr } = spawnSync("logrotate", ["--force", "--state", state, config], { encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    };
    writeFileSync(join(folder, "logs", "access.log"), "one\n");
    rotate();
    expect(readdirSync(join(folder, "logs"))).toEqual(["access.log.1"]); // not compressed yet
    writeFileSync(join(folder, "logs", "access.log"), "two\n");
    rotate();
    expect(readdirSync(join(folder, "logs"))).toEqual(["access.log.1", "access.log.2.gz"]);
    expect(readFileSync(join(folder, "signals"), "utf8")).toBe("sent\nsent\n");
  });
});
