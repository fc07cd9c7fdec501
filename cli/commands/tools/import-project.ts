import { configText } from "../../../tools/import/config-text.ts";
import { importFile } from "../../../tools/import/import-file.ts";
import { differenceLines } from "../../../tools/import/import-report.ts";
import { readSocket } from "../../../tools/import/imported-site.ts";
import { AnswerError } from "../../init/site-answers.ts";

/** The rules of another cache, for a new project. */
export interface ImportedProject {
  readonly origin: string;
  /** `null` if the file names no host. */
  readonly host: string | null;
  /** What differs from the file, for a person. */
  readonly differences: readonly string[];
  /** The text of tidemark.config.ts. `host` is used if the file names none. */
  config(host: string): string;
}

/**
 * Reads an nginx.conf for a project. `origin` and `host` override the file. Throws `OwnerError` if the file cannot be
 * imported, or `AnswerError` if no worker could reach the site that it names.
 */
export async function importProject(
  file: string,
  { origin, host }: { readonly origin: string | null; readonly host: string | null },
): Promise<ImportedProject> {
  const imported = await importFile(file, { origin, host, server: null, root: null });
  const socket = readSocket(imported.origin.value);
  if (socket !== null) {
    throw new AnswerError(
      `Workers cannot reach the socket ${socket}: name the site's public address with --origin. For your own server, tidemark import writes the config`,
    );
  }
  return {
    origin: imported.origin.value,
    host: imported.hosts?.value[0] ?? null,
    differences: differenceLines(imported.differences, 100),
    config: (named) =>
      configText(imported.hosts === null ? { ...imported, hosts: { value: [named], from: [] } } : imported),
  };
}
