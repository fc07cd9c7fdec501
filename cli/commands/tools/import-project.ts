import { readSocket } from "../../../package/unix-socket.ts";
import { configText } from "../../../tools/import/config-text.ts";
import { importFile } from "../../../tools/import/import-file.ts";
import { differenceLines } from "../../../tools/import/import-report.ts";
import { ImportError } from "../../../tools/import/imported-site.ts";
import type { ImportOptions } from "../../../tools/import/nginx/import-nginx.ts";
import { storedPath } from "../../../tools/import/stored-path.ts";
import { AnswerError } from "../../init/site-answers.ts";

/** The rules of another cache, for a new project. */
export interface ImportedProject {
  readonly origin: string;
  /** `null` if the file names no host. */
  readonly host: string | null;
  /** What differs from the file, for a person. */
  readonly differences: readonly string[];
  /** The path of a page that the site stores; `null` if none is known. */
  readonly stored: string | null;
  /** The text of tidemark.config.ts. `host` is used if the file names none. */
  config(host: string): string;
}

/**
 * Reads an nginx.conf for a project. `origin` and `host` override the file. Throws `OwnerError` if the file cannot be
 * imported, or `AnswerError` if no worker could reach the site that it names. `isForServer`: nothing is for Workers.
 */
export async function importProject(
  file: string,
  { isForServer, ...named }: Pick<ImportOptions, "origin" | "host"> & { readonly isForServer: boolean },
): Promise<ImportedProject> {
  const imported = await importFile(file, { ...named, server: null, root: null }).catch((error: Error) => {
    throw withOtherCommand(error, file);
  });
  const socket = readSocket(imported.origin.value);
  if (socket !== null && !isForServer) {
    throw new AnswerError(
      `Workers cannot reach the socket ${socket}: name the site's public address with --origin. For your own server, add --server`,
    );
  }
  return {
    origin: imported.origin.value,
    host: imported.hosts?.value[0] ?? null,
    differences: differenceLines(imported.differences, 100),
    stored: storedPath(imported),
    config: (named) =>
      configText(imported.hosts === null ? { ...imported, hosts: { value: [named], from: [] } } : imported),
  };
}

/** An error, with the command that has the option which its message names, because init has not. */
function withOtherCommand(error: Error, file: string): Error {
  const option = /--(?:server|root)\b/.exec(error.message)?.[0];
  if (!(error instanceof ImportError) || option === undefined) return error;
  const command = `npx tidemark import ${file} ${option === "--root" ? "--root FOLDER" : "--server NAME"}`;
  return new ImportError(
    `${error.message}. Here that option is not for the import: run ${command}, which writes tidemark.config.ts, then init without --import`,
    { cause: error },
  );
}
