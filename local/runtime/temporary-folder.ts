import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The paths of those that were not removed yet. */
const paths = new Set<string>();

/** A folder that is removed with this process, if it ends before. */
export class TemporaryFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(prefix: string): Promise<TemporaryFolder> {
    const folder = new TemporaryFolder(await mkdtemp(join(tmpdir(), prefix)));
    if (paths.size === 0) process.on("exit", removeAll); // one listener for all: Node warns of more than ten
    paths.add(folder.path);
    return folder;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 });
    if (paths.delete(this.path) && paths.size === 0) process.off("exit", removeAll);
  }
}

function removeAll(): void {
  for (const path of paths) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Windows keeps what a runtime still uses. A later listener stops that, and would not run after an error.
    }
  }
}
