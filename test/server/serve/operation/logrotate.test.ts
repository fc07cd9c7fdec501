import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const hasLogrotate = spawnSync("logrotate", ["--version"]).error === undefined;
const NOT_RUN = "the file for logrotate is SKIPPED, because this machine has no logrotate";
if (!hasLogrotate) process.stdout.write(`${NOT_RUN}\n`);

describe.skipIf(!hasLogrotate)(hasLogrotate ? "docs/examples/server/logrotate" : NOT_RUN, () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    for (const each of ["logs", "bin"]) mkdirSync(join(folder, each));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Rotates by the file of the docs, on a machine whose systemctl has the options of systemd before 252. */
  function logrotateWith({ isActive }: { readonly isActive: boolean }): () => void {
    const systemctl = `#!/bin/sh
case "$*" in
    "is-active --quiet tidemark.service") ${isActive} ;;
    "kill --kill-who=main --signal=USR1 tidemark.service") ${isActive} && echo sent >>${folder}/signals ;;
    *) echo "systemctl: unrecognized: $*" >&2; exit 1 ;;
esac
`;
    writeFileSync(join(folder, "bin", "systemctl"), systemctl, { mode: 0o755 });
    const [config, state] = [join(folder, "config"), join(folder, "state")];
    const text = readFileSync("docs/examples/server/logrotate", "utf8");
    writeFileSync(config, text.replace("/var/log/tidemark/", `${folder}/logs/`), { mode: 0o644 });
    const env = { ...process.env, PATH: `${folder}/bin:${process.env.PATH}` };
    return () => {
      const args = ["--force", "--state", state, config];
      const { status, stderr } = spawnSync("logrotate", args, { encoding: "utf8", env });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    };
  }

  test("moves the log away, leaves the new one to the server, and sends SIGUSR1 to the supervisor alone", () => {
    const rotate = logrotateWith({ isActive: true });
    writeFileSync(join(folder, "logs", "access.log"), "one\n");
    rotate();
    expect(readdirSync(join(folder, "logs"))).toEqual(["access.log.1"]); // not compressed yet
    writeFileSync(join(folder, "logs", "access.log"), "two\n");
    rotate();
    expect(readdirSync(join(folder, "logs"))).toEqual(["access.log.1", "access.log.2.gz"]);
    expect(readFileSync(join(folder, "signals"), "utf8")).toBe("sent\nsent\n");
  });

  test("moves the log of a stopped server away, and sends nothing", () => {
    const rotate = logrotateWith({ isActive: false });
    writeFileSync(join(folder, "logs", "access.log"), "one\n");
    rotate();
    expect(readdirSync(join(folder, "logs"))).toEqual(["access.log.1"]);
    expect(existsSync(join(folder, "signals"))).toBe(false);
  });
});
