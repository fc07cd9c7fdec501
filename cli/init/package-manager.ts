import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** How a project's package manager is called. */
export interface PackageManager {
  readonly install: string;
  readonly test: string;
  /** Before the name of a script. */
  readonly run: string;
  /** Before the name of an installed command. */
  readonly exec: string;
}

const PNPM: PackageManager = { install: "pnpm install", test: "pnpm test", run: "pnpm run", exec: "pnpm exec" };
const YARN: PackageManager = { install: "yarn install", test: "yarn test", run: "yarn run", exec: "yarn" };
/** `bun test` would be Bun's own runner. */
const BUN: PackageManager = { install: "bun install", test: "bun run test", run: "bun run", exec: "bunx" };
const NPM: PackageManager = { install: "npm install", test: "npm test", run: "npm run", exec: "npx" };

const BY_LOCK: readonly (readonly [lock: string, PackageManager])[] = [
  ["pnpm-lock.yaml", PNPM],
  ["yarn.lock", YARN],
  ["bun.lock", BUN],
  ["bun.lockb", BUN],
  ["package-lock.json", NPM],
];

/** The one whose lock file is in the folder or, for a package of a workspace, above it in the repository; otherwise npm. */
export function packageManagerOf(folder: string): PackageManager {
  const here = resolve(folder);
  const [, found] = BY_LOCK.find(([lock]) => existsSync(join(here, lock))) ?? [];
  if (found !== undefined) return found;
  const isTop = existsSync(join(here, ".git")) || dirname(here) === here;
  return isTop ? NPM : packageManagerOf(dirname(here));
}
