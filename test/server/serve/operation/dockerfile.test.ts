import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedOrigin } from "../../../../local/cdn/scripted-origin.ts";
import { ServerProcess } from "../running-server.ts";

process.stdout.write("building and weighing the image is SKIPPED: its base image comes from a registry\n");

/** The instructions in their order: lines that end in a backslash go on. */
const instructions = readFileSync("docs/examples/server/Dockerfile", "utf8")
  .split("\n")
  .filter((line) => !line.startsWith("#"))
  .join("\n")
  .replaceAll("\\\n", "")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => /^([A-Z]+) +(.*)$/.exec(line))
  .map((match) => ({ name: match?.[1], value: match?.[2] ?? "" }));
const instruction = (name: string) => instructions.findLast((each) => each.name === name)!.value;
const list = (text: string) => JSON.parse(text) as string[];

let folder: string;
const origin = new ScriptedOrigin(() => Date.now());
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  await origin.comeUp();
});
afterAll(async () => {
  await origin.goDown();
  rmSync(folder, { recursive: true });
});

test("each line is an instruction, and nothing runs as root", () => {
  const known = "FROM WORKDIR COPY RUN USER ENV EXPOSE VOLUME ENTRYPOINT CMD HEALTHCHECK STOPSIGNAL".split(" ");
  expect(instructions.filter(({ name }) => name === undefined || !known.includes(name))).toEqual([]);
  const names = instructions.map(({ name }) => name);
  expect(instruction("USER")).toBe("node");
  expect(names.lastIndexOf("USER")).toBeGreaterThan(Math.max(names.lastIndexOf("RUN"), names.lastIndexOf("COPY")));
  // The folder belongs to that user before it becomes a volume.
  expect(instruction("RUN")).toContain(`install -d -o node -g node -m 0700 ${instruction("VOLUME")}`);
  expect(list(instruction("CMD"))).toContain(instruction("VOLUME"));
  expect(list(instruction("CMD"))).toContain(`*:${instruction("EXPOSE")}`);
});

test("what the packages are installed from is copied first, also a package that the lock names by its file", () => {
  const [copied] = instructions.filter(({ name }) => name === "COPY");
  const patterns = copied!.value.split(" ").slice(0, -1);
  // npm writes its name into the lock: "resolved": "file:tidemark-0.1.0.tgz".
  for (const file of ["package.json", "package-lock.json", "tidemark-0.1.0.tgz"]) {
    expect(patterns.filter((pattern) => matchesGlob(file, pattern))).toHaveLength(1);
  }
  // Only a pattern may match nothing, as where the package comes from the registry.
  expect(patterns).not.toContain("tidemark-0.1.0.tgz");
});

test("the command is that of the package, with options that it has", { tags: ["deep"] }, () => {
  const [node, main, command] = list(instruction("ENTRYPOINT"));
  const { bin } = JSON.parse(readFileSync("package.json", "utf8")) as { bin: { tidemark: string } };
  expect([node, main, command]).toEqual(["node", `node_modules/tidemark/${bin.tidemark}`, "serve"]);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const args = [resolve("cli/main.ts"), "serve", ...list(instruction("CMD")), "--check", "--origin", origin.url];
  const env = { PATH, NODE_COMPILE_CACHE, TIDEMARK_HOSTS: "www.example.com" };
  const { status, stderr } = spawnSync(process.execPath, [...args, "--cache", folder], {
    cwd: folder, // where there is no config
    env,
    encoding: "utf8",
  });
  expect(stderr.replaceAll(/^tidemark: TIDEMARK_TOKEN is not set.*\n/gm, "")).toBe("");
  expect(status).toBe(0);
});

test("the health check says whether the server answers", { timeout: 60_000 }, async () => {
  const [, check] = /CMD (\[.*\])$/.exec(instruction("HEALTHCHECK"))!;
  const [node, flag, script] = list(check!);
  expect([node, flag]).toEqual(["node", "-e"]);
  const listen = ["--listen", "127.0.0.1:0", "--origin", origin.url, "--workers", "1", "--access-log", "-"];
  const server = new ServerProcess(folder, listen, { TIDEMARK_HOSTS: "www.example.com" });
  const address = await server.address();
  expect(script).toContain(`http://127.0.0.1:${instruction("EXPOSE")}/`);
  const healthy = async () => {
    const here = script!.replace(`127.0.0.1:${instruction("EXPOSE")}`, address.host);
    const [code] = (await once(spawn(process.execPath, ["-e", here], { stdio: "ignore" }), "exit")) as [number];
    return code;
  };
  expect(await healthy()).toBe(0);
  await server.prints(/"GET \/_tidemark\/health HTTP\/1\.1" 200/); // on standard output
  await server.stop();
  expect(await healthy()).toBe(1);
});
