/** `npm run release -- --dry-run`: all that a release consists of, in `dist/release`. docs/release.md says what follows. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { hasOtherFiles } from "./commit.ts";
import { makeRelease } from "./make-release.ts";
import { ReleaseError } from "./release-error.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

const HOW_TO = `npm run release does not publish. With --dry-run it makes all files of a release in dist/release.
To publish, push a tag: the workflow builds the same files from it, signs and uploads them.

  git tag v${version} && git push origin v${version}

docs/release.md says what must be ready first.`;

try {
  const flags = readFlags();
  if (flags.help) process.stdout.write(`${HOW_TO}\n`);
  else if (flags["dry-run"]) await makeAll();
  else throw new ReleaseError(HOW_TO);
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}

function readFlags() {
  try {
    return parseArgs({ options: { "dry-run": { type: "boolean" }, help: { type: "boolean", short: "h" } } }).values;
  } catch (error) {
    throw new ReleaseError(`${(error as Error).message}\n\n${HOW_TO}`);
  }
}

async function makeAll(): Promise<void> {
  if (await hasOtherFiles())
    say("some files differ from the commit; the release is made from the commit, without these changes");
  for (const line of await makeRelease(say)) process.stdout.write(`${line}\n`);
}

function say(line: string): void {
  process.stderr.write(`release: ${line}\n`);
}
