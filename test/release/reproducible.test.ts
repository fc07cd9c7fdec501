import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tarGz } from "../../release/tar.ts";
import { builtRelease, failedRelease, PLAIN, type Surroundings } from "./built-release.ts";

/** All that differs between the machines of two people, and that a build may take into its files by mistake. */
const ELSEWHERE: Surroundings = {
  folder: "elsewhere/in a/deeper",
  umask: "077",
  environment: {
    TZ: "Pacific/Kiritimati",
    LANG: "tr_TR.UTF-8",
    LC_ALL: "C.UTF-8",
    SOURCE_DATE_EPOCH: "86400",
    NODE_COMPILE_CACHE: "",
    TAR_OPTIONS: "--owner=somebody",
    GZIP: "-1",
    npm_config_tmp: "/tmp",
  },
};

test("the same commit gives the same bytes in another folder, zone, language, umask and hour", {
  tags: ["deep"],
  timeout: 1_200_000,
}, async () => {
  const sumsOf = async (surroundings: Surroundings) => {
    const sums = readFileSync(join(await builtRelease(surroundings), "SHA256SUMS"), "utf8");
    return Object.fromEntries(
      sums
        .trim()
        .split("\n")
        .map((line) => line.split("  ").reverse()),
    );
  };
  const plain = await sumsOf(PLAIN);
  expect(Object.keys(plain)).toEqual([
    "image.tar",
    expect.stringMatching(/^tidemark-\d.*-linux-arm64\.tar\.gz$/),
    expect.stringMatching(/^tidemark-\d.*-linux-x64\.tar\.gz$/),
    expect.stringMatching(/^tidemark-\d.*-py3-none-any\.whl$/),
    expect.stringMatching(/^tidemark-\d.*\.cdx\.json$/),
    expect.stringMatching(/^tidemark-\d.*\.tgz$/),
    expect.stringMatching(/^tidemark_\d.*_amd64\.deb$/),
    expect.stringMatching(/^tidemark_\d.*_arm64\.deb$/),
  ]);
  expect(await sumsOf(ELSEWHERE)).toEqual(plain);
});

test("a release whose image cannot be made has all other files, and their sums", {
  tags: ["deep"],
  timeout: 600_000,
}, async () => {
  const programs = mkdtempSync(join(tmpdir(), "tidemark-"));
  onTestFinished(() => rmSync(programs, { recursive: true }));
  // In place of a mirror without the libraries, which may have been fetched before.
  writeFileSync(join(programs, "dpkg-deb"), "#!/bin/sh\necho no such package >&2; exit 100\n", { mode: 0o755 });
  const all = readFileSync(join(await builtRelease(PLAIN), "SHA256SUMS"), "utf8");
  const path = [programs, dirname(process.execPath), process.env.PATH].join(delimiter);
  const { clone, release, exit, stderr } = await failedRelease({
    ...PLAIN,
    folder: "without an image",
    environment: { PATH: path },
  });
  onTestFinished(() => rmSync(clone, { recursive: true }));
  const why = "image.tar is missing, and all other files are there. dpkg-deb --extract: no such package";
  expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining(`release: ${why}\n`) });
  expect(readFileSync(join(release, "SHA256SUMS"), "utf8")).toBe(all.replace(/^\w{64} {2}image\.tar\n/m, ""));
});

test("a tar depends on the files alone: not on their order, dates and modes", async () => {
  // In memory a folder lists what it holds in the order in which it was made; on a disk often by hashes of the names.
  const home = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tidemark-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const tarOf = async (names: readonly string[], mode: number, at: number, text = "text") => {
    const folder = join(home, String(at));
    for (const name of names) {
      mkdirSync(join(folder, name), { recursive: true, mode: mode | 0o100 });
      writeFileSync(join(folder, name, "file"), text, { mode });
      utimesSync(join(folder, name, "file"), at, at);
    }
    const file = join(home, "file.tar.gz");
    await tarGz(folder, file, { id: "", atSeconds: 1_795_615_206 }, { prefix: "tidemark-1.2.3" });
    rmSync(folder, { recursive: true });
    return readFileSync(file).toString("base64");
  };
  const tar = await tarOf(["a", "b"], 0o600, 1);
  expect(await tarOf(["b", "a"], 0o644, 86_400)).toBe(tar);
  expect(await tarOf(["b", "a"], 0o644, 1, "another")).not.toBe(tar);
});

const release = (...args: readonly string[]) =>
  spawnSync(process.execPath, ["release/release-command.ts", ...args], { encoding: "utf8" });

test("a release that is not a dry run is refused, with the steps to take", { tags: ["gate"] }, () => {
  const { status, stdout, stderr } = release();
  expect([status, stdout]).toEqual([1, ""]);
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(stderr).toContain(`git tag v${version} && git push origin v${version}`);
});

test("the command of a release says how to use it, and refuses what it does not know", { tags: ["gate"] }, () => {
  const { status, stdout, stderr } = release("--help");
  expect([status, stderr]).toEqual([0, ""]);
  expect(release("-h").stdout).toBe(stdout);
  expect(release().stderr).toBe(`release: ${stdout}`);
  const wrong = {
    "--dryrun": "Unknown option '--dryrun'",
    "--dry-run=no": "Option '--dry-run' does not take an argument",
  };
  for (const [flag, because] of Object.entries(wrong)) {
    expect(release(flag)).toMatchObject({ status: 1, stdout: "", stderr: `release: ${because}\n\n${stdout}` });
  }
});
