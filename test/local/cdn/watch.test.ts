import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, inject, test } from "vitest";
import { tool } from "../../packed/installed-package.ts";

const folder = join(inject("packedProject"), "watched");

beforeEach(async () => {
  await mkdir(folder);
  await writeSite("/other");
  await writeFile(join(folder, "rules.ts"), 'export const pass = { match: "/other", pass: true };\n');
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(
    join(folder, "site.test.ts"),
    `
    import "tidemark/local/matchers";
    import { startCdn } from "tidemark/local";
    import { expect, test } from "vitest";

    test("the page is never stored", async () => {
      await using cdn = await startCdn({ config: "tidemark.config.ts" });
      await expect(cdn).toNeverStore("/page");
    });`,
  );
});

async function writeSite(passed: string): Promise<void> {
  const site = `{ origin: "http://127.0.0.1:1", routes: [pass, { match: ${JSON.stringify(passed)}, pass: true }] }`;
  await writeFile(
    join(folder, "tidemark.config.ts"),
    `import { defineSite } from "tidemark/worker";\nimport { pass } from "./rules.ts";\nexport default defineSite(${site});\n`,
  );
}

let child: ChildProcess | undefined;
let output = "";

afterEach(async () => {
  if (child?.exitCode === null) {
    const closed = once(child, "close");
    child.kill("SIGINT");
    await closed;
  }
  await rm(folder, { recursive: true });
});

/** Resolves once the output since the last call matches, however long ago that was. */
async function says(words: RegExp): Promise<void> {
  while (!words.test(output)) {
    await once(child!, "said", { signal: AbortSignal.timeout(60_000) }).catch(() => {
      throw new Error(`it does not say ${words}, but:\n${output}`);
    });
  }
  output = "";
}

/** Resolves once vitest waits for changes, after a first run that fails. */
async function watches(): Promise<void> {
  output = "";
  const [node, vitest] = tool("vitest");
  const { VITEST: _, ...environment } = process.env;
  child = spawn(node, [vitest, "--watch", "--no-color", "--testTimeout=30000"], {
    cwd: folder,
    env: { ...environment, CI: "", NO_COLOR: "1" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    child!.emit("said");
  });
  await says(/1 failed[\s\S]* file changes/);
}

test("vitest runs a test again when the config that it names changes", { timeout: 120_000 }, async () => {
  await watches();
  await writeSite("/page");
  await says(/RERUN +tidemark\.config\.ts[\s\S]*1 passed/);
});

test("vitest runs a test again when a file changes that the config imports", {
  tags: ["deep"],
  timeout: 120_000,
}, async () => {
  await watches();
  await writeSite("/page");
  await says(/RERUN +tidemark\.config\.ts[\s\S]*1 passed[\s\S]* file changes/);
  await writeFile(join(folder, "rules.ts"), 'export const pass = { match: "/other", pss: true };\n');
  await says(/RERUN +rules\.ts[\s\S]*1 failed[\s\S]* file changes/);
  await writeFile(join(folder, "rules.ts"), 'export const pass = { match: "/other", pass: true };\n');
  await says(/RERUN +rules\.ts[\s\S]*1 passed/);
});
