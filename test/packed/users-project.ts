import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Ended, InstalledPackage } from "./installed-package.ts";

/** A project of somebody who has tools already, and takes up this package. */
export interface UsersProject {
  /** Below the folder of the installed package. */
  readonly name: string;
  readonly manager: "npm" | "pnpm" | "yarn";
  readonly devDependencies: Readonly<Record<string, string>>;
  /** What yarn takes wherever another package depends on one of these. */
  readonly resolutions?: Readonly<Record<string, string>>;
  /** Whether it is an app on Workers, which the edge then asks. */
  readonly isWorker: boolean;
}

/** What an app on Workers has: the oldest wrangler's runtime accepts its date. */
const WORKER = {
  "wrangler.jsonc": '{ "name": "app", "main": "app.ts", "compatibility_date": "2026-03-01" }',
  "app.ts": 'export default { fetch: () => new Response("app") };',
};

const NGINX =
  "http { server { server_name w.test; location ~ \\.png$ { proxy_pass http://10.0.0.1; proxy_cache c; } } }";

/** Runs a command in a project, and throws if it fails. */
export type Step = (folder: string, command: string, ...args: readonly string[]) => Promise<Ended>;

/** Installs the package beside the tools of a project, and runs its commands and theirs. Resolves to what the last ones said. */
export async function takeUp(
  { home, tarball }: Pick<InstalledPackage, "home" | "tarball">,
  { name, manager, devDependencies, resolutions, isWorker }: UsersProject,
  step: Step,
): Promise<{ readonly tests: string; readonly deploy: string }> {
  const folder = join(home, name);
  await mkdir(folder);
  const dependencies = { tidemark: `file:${tarball}` };
  const manifest = { name: "app", private: true, dependencies, devDependencies, resolutions };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  for (const [file, text] of Object.entries(isWorker ? WORKER : {})) await writeFile(join(folder, file), text);
  const flags = manager === "pnpm" ? ["--no-frozen-lockfile"] : [];
  const cli = "node_modules/tidemark/dist/package/cli.mjs";
  // Before `init`, nobody has judged the install scripts of the project's own tools.
  const unjudged = manager === "pnpm" ? ["--config.strict-dep-builds=false"] : [];
  await step(folder, manager, "install", ...flags, ...unjudged);
  await step(folder, "node", cli, "init", ...(isWorker ? [] : ["--origin=https://o.test"]), "--host=w.test");
  await step(folder, manager, "install", ...flags);
  await writeFile(join(folder, "nginx.conf"), NGINX);
  await step(folder, "node", cli, "import", "nginx.conf", "--out", "-");
  const tests = await step(folder, manager, "run", "test");
  await step(folder, "node", "node_modules/typescript/bin/tsc", "-p", ".");
  const config = isWorker ? ["--config", "wrangler.edge.toml"] : [];
  const deploy = await step(folder, "node", "node_modules/wrangler/bin/wrangler.js", "deploy", "--dry-run", ...config);
  return { tests: tests.stdout, deploy: deploy.stdout };
}
