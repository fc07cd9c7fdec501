import { resolve } from "node:path";
import { Command } from "commander";
import { OwnerError } from "../../package/owner-error.ts";
import { counted, size } from "../../wire/text/numbers.ts";
import { EXIT } from "../exit-code.ts";
import { pathName } from "../flags.ts";
import { DEFAULT_CACHE, logFolderIn } from "../server-folder.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printError } from "../text/print-error.ts";

interface Flags {
  readonly cache: string;
}

const AFTER_BACKUP = `
The copy holds the purges, their audit trail and the site's counts as they were at one moment. It holds no pages.
The server may be running.

Exit codes: 0 done, 2 nothing was written.

  tidemark backup --cache /var/cache/tidemark /backup/purge-log.sqlite`;

const AFTER_RESTORE = `
Stop the server first. Its log is set aside, and the copy becomes a new log, so the server fetches every page again.

Exit codes: 0 done, 2 nothing was changed.

  tidemark restore --cache /var/cache/tidemark /backup/purge-log.sqlite`;

/** `tidemark backup`: copies a server's purge log. */
export function backupCommand(): Command {
  return new Command("backup")
    .description(DESCRIPTIONS.backup)
    .argument("<file>", "the file to write; it must not exist yet")
    .option("--cache <folder>", "the folder that tidemark serve has as --cache", pathName, DEFAULT_CACHE)
    .addHelpText("after", AFTER_BACKUP)
    .action((file: string, { cache }: Flags) =>
      orSay(async () => {
        const { backUpLog } = await import("../../server/log/log-copies.ts");
        const copy = backUpLog(resolve(logFolderIn(cache)), resolve(file));
        return `copied     ${file}: ${counted(copy.seq, "purge")}, ${size(copy.bytes)}`;
      }),
    );
}

/** `tidemark restore`: restores a server's purge log from a copy. */
export function restoreCommand(): Command {
  return new Command("restore")
    .description(DESCRIPTIONS.restore)
    .argument("<file>", "the copy to restore")
    .option("--cache <folder>", "the folder that tidemark serve has as --cache", pathName, DEFAULT_CACHE)
    .addHelpText("after", AFTER_RESTORE)
    .action((file: string, { cache }: Flags) =>
      orSay(async () => {
        const { restoreLog } = await import("../../server/log/log-copies.ts");
        const { seq, setAside } = restoreLog(resolve(file), resolve(logFolderIn(cache)), new Date());
        const before = setAside === null ? "" : ` The log that was there before is now ${setAside}.`;
        return `restored   ${file}: ${counted(seq, "purge")}. Stored pages will be fetched again.${before}`;
      }),
    );
}

async function orSay(work: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await work()}\n`);
  } catch (error) {
    if (!(error instanceof OwnerError)) throw error;
    printError(error.message);
    process.exitCode = EXIT.usage;
  }
}
