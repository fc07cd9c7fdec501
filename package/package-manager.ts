import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** How a project's package manager is called. */
export interface PackageManager {
  /** Where it is told which packages may run scripts when they are installed; `null` for one that is told nothing. */
  readonly scriptsIn: "package.json" | "pnpm-workspace.yaml" | null;
  readonly install: string;
  /** Before the names of packages. */
  readonly add: string;
  /** The same for packages that production does not need. */
  readonly addForTests: string;
  readonly test: string;
  /** Before the name of a script. */
  readonly run: string;
  /** Before the name of an installed command. */
  readonly exec: string;
  /** The same, and a command that is not installed is an error: it is not fetched. */
  readonly execInstalled: string;
}

const PNPM: PackageManager = {
  install: "pnpm install",
  add: "pnpm add",
  addForTests: "pnpm add --save-dev",
  test: "pnpm test",
  run: "pnpm run",
  exec: "pnpm exec",
  execInstalled: "pnpm exec",
  scriptsIn: "pnpm-workspace.yaml",
};
const YARN: PackageManager = {
  install: "yarn install",
  add: "yarn add",
  addForTests: "yarn add --dev",
  test: "yarn test",
  run: "yarn run",
  exec: "yarn",
  execInstalled: "yarn",
  scriptsIn: null,
};
const BUN: PackageManager = {
  install: "bun install",
  add: "bun add",
  addForTests: "bun add --dev",
  test: "bun run test", // `bun test` would be Bun's own runner
  run: "bun run",
  exec: "bunx",
  execInstalled: "bunx --no-install",
  scriptsIn: null,
};
const NPM: PackageManager = {
  install: "npm install",
  add: "npm install",
  addForTests: "npm install --save-dev",
  test: "npm test",
  run: "npm run",
  exec: "npx",
  execInstalled: "npx --no",
  scriptsIn: "package.json",
};

const BY_LOCK: readonly (readonly [lock: string, PackageManager])[] = [
  ["pnpm-lock.yaml", PNPM],
  ["yarn.lock", YARN],
  ["bun.lock", BUN],
  ["bun.lockb", BUN],
  ["package-lock.json", NPM],
];

/** A project's package manager, and the folder of its lock file, which is above a package of a workspace. */
export interface FoundManager extends PackageManager {
  /** An absolute path. */
  readonly root: string;
}

/** The one whose lock file is in the folder or above it in the repository; otherwise npm, and the folder itself. */
export function packageManagerOf(folder: string): FoundManager {
  const own = resolve(folder);
  for (let root = own; ; root = dirname(root)) {
    const [, found] = BY_LOCK.find(([lock]) => existsSync(join(root, lock))) ?? [];
    if (found !== undefined) return { ...found, root };
    if (existsSync(join(root, ".git")) || dirname(root) === root) return { ...NPM, root: own };
  }
}
