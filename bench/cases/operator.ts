import { fileURLToPath } from "node:url";
import { type Case, hasWord, words } from "../frame/case.ts";
import { isInstalled, NGINX } from "../frame/programs.ts";
import { printTable } from "../frame/table.ts";
import { WalkOrigin } from "../operator/walk-origin.ts";
import { WALK } from "../operator/walk-steps.ts";
import { type WalkedProgram, walkedNginx, walkedTidemark } from "../operator/walked-program.ts";
import { WalkedServer } from "../operator/walked-server.ts";

const SOURCES = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

interface OperatorOptions {
  readonly rows?: string;
  readonly main: string;
}

export const operator: Case<OperatorOptions> = {
  name: "operator",
  description: "What an operator sees from the start to a dead origin, of `tidemark serve` and of nginx.",
  options: [
    words("--rows", "only the steps whose name has one of these, separated by commas"),
    words("--main", "the module of the command").default(SOURCES),
  ],
  needs: [],
  uses: [NGINX],
  async measure({ rows, main }) {
    const programs = [walkedTidemark([main]), ...(isInstalled(NGINX) ? [walkedNginx] : [])];
    const columns: string[][] = [];
    for (const program of programs) columns.push(await walk(program, rows));
    const steps = WALK.filter(({ name }) => hasWord(name, rows));
    const cells = steps.map(({ name }, row) => [name, ...columns.map((column) => column[row]!)]);
    printTable(["step", ...programs.map(({ name }) => name)], cells);
    if (!isInstalled(NGINX)) console.log("\nnginx is not installed, so it was not walked.");
    return { results: { steps: cells }, failures: [] };
  },
};

/** What one program shows at each step. */
async function walk(program: WalkedProgram, rows: string | undefined): Promise<string[]> {
  await using origin = await WalkOrigin.start();
  await using server = await WalkedServer.start(program, origin.url);
  const seen: string[] = [];
  for (const { name, take } of WALK) {
    if (!hasWord(name, rows)) continue;
    seen.push(await take(server, origin).catch((cause: unknown) => `failed: ${String(cause)}`));
    console.error(`${program.name}: ${name}: ${seen.at(-1)}`);
  }
  return seen;
}
