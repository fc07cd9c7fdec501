import { mkdir } from "node:fs/promises";
import { run } from "./run.ts";

/** The commit that is released. All dates in what is made are its own. */
export interface Commit {
  /** The whole hash. */
  readonly id: string;
  /** When it was made, in seconds since 1970. */
  readonly atSeconds: number;
}

/** The commit that is checked out. */
export async function currentCommit(): Promise<Commit> {
  const [id, at] = (await run(["git", "log", "-1", "--format=%H %ct"])).trim().split(" ");
  return { id: id!, atSeconds: Number(at) };
}

/** Whether files differ from the commit, which are then not in what is released. */
export async function hasOtherFiles(): Promise<boolean> {
  return (await run(["git", "status", "--porcelain", "--untracked-files=no"])) !== "";
}

/** Writes the files of a commit into a folder, as git has them, whatever else lies in the working tree. */
export async function checkOut({ id }: Commit, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run(["sh", "-ec", 'git archive --format=tar "$0" | tar --extract --directory "$1"', id, folder]);
}
