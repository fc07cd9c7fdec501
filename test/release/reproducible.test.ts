import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtRelease, PLAIN, type Surroundings } from "./built-release.ts";

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
  expect(Object.keys(plain).filter((file) => !file.startsWith("image/"))).toEqual([
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
