import { spawnSync } from "node:child_process";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { run } from "../packed/installed-package.ts";

/** The version for Debian's Python. */
const DJANGO = "Django==5.2.*";

/** Kept between runs, because to fetch it takes longer than the tests. */
const FOLDER = resolve("node_modules/.cache/django-5.2");

/** A Python that has Django, or the reason why there is none on this machine. */
export type PythonEnvironment = { readonly python: string } | { readonly missing: string };

/** Words of pip without a network, or without a package index. */
const NO_NETWORK =
  /NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|No matching distribution/;

/** Makes an environment of its own for Python and installs Django in it, the first time. Rejects if that fails for a reason other than the network. */
export async function pythonWithDjango(): Promise<PythonEnvironment> {
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
    const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--retries=1", DJANGO];
    const { exit, stderr } = await run(join(unfinished, "bin/python"), pip, { cwd });
    if (exit !== 0 && NO_NETWORK.test(stderr)) return { missing: `${DJANGO} cannot be fetched here` };
    if (exit !== 0) throw new Error(`pip install ${DJANGO}: ${stderr}`);
    await rename(unfinished, FOLDER);
    return { python };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
