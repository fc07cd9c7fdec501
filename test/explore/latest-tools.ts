/**
 * `node test/explore/latest-tools.ts [NAME@VERSION …]`: takes up the package in an app on Workers with the newest release of each
 * tool, or with the named ones. Fails with the versions and the words of the first command that failed.
 */
import { rm } from "node:fs/promises";
import { type Ended, installPackage, run } from "../packed/installed-package.ts";
import { type Step, takeUp } from "../packed/users-project.ts";

const TOOLS = ["wrangler", "vitest", "miniflare", "typescript"];
const ENVIRONMENT = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "1" };

const named = new Map(process.argv.slice(2).map((argument) => argument.split("@") as [string, string]));
const unknown = [...named.keys()].find((name) => !TOOLS.includes(name));
if (unknown !== undefined) throw new Error(`${unknown} is none of ${TOOLS.join(", ")}`);

const asked = await Promise.all(TOOLS.map(async (name) => [name, named.get(name) ?? (await latestOf(name))] as const));
const silent = asked.find(([, version]) => version === null);
if (silent === undefined) process.exitCode = await tried(Object.fromEntries(asked) as Record<string, string>);
else console.log(`No registry tells the latest ${silent[0]}, so nothing was tried.`);

/** The version behind the tag `latest`; `null` if no registry answers. */
async function latestOf(name: string): Promise<string | null> {
  const { exit, stdout } = await run("npm", ["view", `${name}@latest`, "version", "--fetch-retries=1"], { cwd: "." });
  return exit === 0 ? stdout.trim() : null;
}

/** The exit code: 0 if every command has passed. */
async function tried(devDependencies: Readonly<Record<string, string>>): Promise<number> {
  const versions = Object.entries(devDependencies).map(([name, version]) => `${name}@${version}`);
  console.log(`Node ${process.version} with ${versions.join(" ")}`);
  const installed = await installPackage();
  const step: Step = async (folder, command, ...args) => {
    const ended = await run(command, args, { cwd: folder, env: ENVIRONMENT });
    if (ended.exit !== 0) throw new Error(`${command} ${args.join(" ")}: ${wordsOf(ended)}`);
    return ended;
  };
  try {
    const { tests, deploy } = await takeUp(
      installed,
      { name: "latest", manager: "npm", devDependencies, isWorker: true },
      step,
    );
    if (!/Tests +2 passed/.test(tests)) throw new Error(`npm run test has not run the test of the edge:\n${tests}`);
    if (!deploy.includes("wrangler.edge.toml can be deployed"))
      throw new Error(`wrangler has not built by check:\n${deploy}`);
    return 0;
  } catch (error) {
    console.error(`${(error as Error).message}\n\nAgain: node test/explore/latest-tools.ts ${versions.join(" ")}`);
    return 1;
  } finally {
    await rm(installed.home, { recursive: true });
  }
}

function wordsOf({ exit, stdout, stderr }: Ended): string {
  return `exit code ${exit}\n${stdout}${stderr}`;
}
