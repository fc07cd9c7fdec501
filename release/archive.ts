import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NodeRuntime } from "./node-runtime.ts";

/** What archive, package and image of one machine have in common, as a folder. */
export interface Parts {
  readonly node: NodeRuntime;
  /** The folder of the bundled command. */
  readonly bundle: string;
  /** The licence of this project, and those of all that is in the folder. */
  readonly licence: string;
  readonly thirdParties: string;
}

/**
 * A shell is enough to start it: it needs no other program unless it is called by a symbolic link. `exec`, so that signals
 * and sockets of systemd are for Node.
 */
const LAUNCHER = `#!/bin/sh
self=$0
if [ -h "$self" ]; then self=$(readlink -f "$self"); fi
exec "\${self%/*}/node" "\${self%/*}/../lib/cli.mjs" "$@"
`;

/** Writes `bin/tidemark`, `bin/node` and `lib` into a folder, which may then lie anywhere. */
export async function layOut({ node, bundle, licence, thirdParties }: Parts, folder: string): Promise<void> {
  await mkdir(join(folder, "bin"), { recursive: true });
  await cp(node.program, join(folder, "bin/node"));
  await writeFile(join(folder, "bin/tidemark"), LAUNCHER);
  for (const program of ["bin/node", "bin/tidemark"]) await chmod(join(folder, program), 0o755);
  await cp(bundle, join(folder, "lib"), { recursive: true });
  await writeFile(join(folder, "LICENSE"), licence);
  await writeFile(join(folder, "THIRD-PARTY.txt"), thirdParties);
}
