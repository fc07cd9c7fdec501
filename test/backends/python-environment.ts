import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { run } from "../packed/installed-package.ts";
import { inGate } from "../suite/depth.ts";
import { exists, moveUnlessThere } from "./npm-packages.ts";

/** Django in the version for Debian's Python, what runs our tests, the clients of other vendors, and what checks our own. */
const PACKAGES = inGate(2, [
  "Django==5.2.*",
  "pytest==9.0.2",
  "cloudflare==5.9.0",
  "keycdn==0.4.3",
  "requests==2.34.2",
  "setuptools==80.9.0",
  "mypy==1.19.1",
]);
/** The last comes without what only its pages need. */
const INSTALLS = inGate(1, [PACKAGES, ["--no-deps", "wagtail==8.0.1"]]);

/** Kept between runs, because to fetch it takes longer than the tests. */
const VERSIONS = createHash("sha256").update(INSTALLS.join()).digest("hex").slice(0, 8);
const FOLDER = resolve(`node_modules/.cache/python-django-${VERSIONS}`);

/** A Python that has these packages, or the reason why there is none on this machine. */
export type PythonEnvironment = { readonly python: string } | { readonly missing: string };

/** Words of pip without a network, or without a package index. */
const NO_NETWORK =
  /NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|No matching distribution/;

/**
 * Makes an environment of its own for Python and installs the packages in it, the first time. Rejects if that fails for a
 * reason other than the network.
 */
export async function pythonWithPackages(): Promise<PythonEnvironment> {
  const python = join(FOLDER, "bin/python");
  if (await exists(python)) return { python };
  const cwd = process.cwd();
  if (spawnSync("python3", ["--version"]).status !== 0) return { missing: "this machine has no python3" };
  // Made elsewhere and moved when it is complete, so that an interrupted run leaves nothing that looks complete.
  const unfinished = `${FOLDER}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    const made = await run("python3", ["-m", "venv", "--copies", unfinished], { cwd });
    if (made.exit !== 0) return { missing: `python3 makes no environment (on Debian: python3-venv): ${made.stdout}` };
    // What is imported is compiled then, and most of it never is.
    const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--retries=1", "--no-compile"];
    for (const args of INSTALLS) {
      const { exit, stderr } = await run(join(unfinished, "bin/python"), [...pip, ...args], { cwd });
      if (exit !== 0 && NO_NETWORK.test(stderr)) return { missing: `${args.join(", ")} cannot be fetched here` };
      if (exit !== 0) throw new Error(`pip install ${args.join(" ")}: ${stderr}`);
    }
    await moveUnlessThere(unfinished, FOLDER);
    return { python };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
