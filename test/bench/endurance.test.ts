import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endurance } from "../../bench/cases/endurance.ts";
import { isInstalled, NGINX } from "../../bench/frame/programs.ts";
import { memoryBytesOfTree } from "../../bench/processes/process-tree.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-endurance-"));
  vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
  vi.spyOn(console, "log").mockReturnValue();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** Answers with another page, once there is a file. */
const WRONG_SERVER = `import { existsSync } from "node:fs";
import { createServer } from "node:http";
const [port, file] = process.argv.slice(2);
const answer = (response) => (existsSync(file) ? response.end("another page") : setTimeout(answer, 5, response));
createServer((_, response) => answer(response)).listen(Number(port), "127.0.0.1");
`;

test.skipIf(!isInstalled(NGINX))(
  "A mixed load with a wrong answer ends, its client included, and the failure names the row",
  { tags: ["gate"] },
  async () => {
    const [server, started] = [join(folder, "server.mjs"), join(folder, "started")];
    writeFileSync(server, WRONG_SERVER);
    const client = `#!/bin/sh\necho $$ >${started}.new && mv ${started}.new ${started} && exec sleep 600\n`;
    writeFileSync(join(folder, "wrk"), client, { mode: 0o755 });
    const settings = { rows: "mixed", minutes: 10, workers: 1, tidemark: `node ${server} {port} ${started}` };
    const { failures } = await endurance.measure(settings as never);
    expect(failures).toEqual(["mixed load alone: A wrong answer: 200."]);
    expect(memoryBytesOfTree(Number(readFileSync(started, "utf8")))).toBe(0);
  },
);
