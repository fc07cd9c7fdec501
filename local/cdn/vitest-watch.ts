/** The part of vitest's worker that is used: its call for modules that Node loads past vitest's own loader. */
interface VitestWorker {
  readonly filepath?: string;
  readonly rpc?: { ensureModuleGraphEntry?(file: string, importer: string): Promise<void> };
}

/**
 * Lets `vitest --watch` run the current test file again when one of these files changes: vitest follows imports, and a
 * config is named, not imported. It does nothing under other runners, and under a vitest that has no such call, where
 * `forceRerunTriggers` in its config does the same.
 */
export function rerunOnChange(files: readonly string[]): void {
  const { filepath, rpc } = (globalThis as { __vitest_worker__?: VitestWorker }).__vitest_worker__ ?? {};
  if (filepath === undefined || !rpc?.ensureModuleGraphEntry) return;
  for (const file of files) rpc.ensureModuleGraphEntry(file, filepath).catch(() => undefined); // A lost watch is no failure.
}
