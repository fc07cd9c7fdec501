import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** A disk of its own that is small enough to be filled. Only root may mount one, and not in every container. */
export class SmallDisk {
  readonly path: string;
  readonly isMounted: boolean;

  /** `size`: in the words of `mount`, such as `4m`. `mode`: the permissions of its folder. */
  constructor(path: string, size: string, mode = "700") {
    this.path = path;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const options = ["-t", "tmpfs", "-o", `size=${size},mode=${mode}`, "tidemark-test", path];
    this.isMounted = spawnSync("mount", options).status === 0;
  }

  /** How many bytes more find room. */
  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  fill(): void {
    while (this.freeBytes > 0) {
      try {
        appendFileSync(join(this.path, "filler"), Buffer.alloc(this.freeBytes));
      } catch {
        // Another process has just taken some of it.
      }
    }
  }

  free(): void {
    rmSync(join(this.path, "filler"));
  }

  remount(mode: "ro" | "rw"): boolean {
    return spawnSync("mount", ["-o", `remount,${mode}`, this.path]).status === 0;
  }

  unmount(): void {
    if (this.isMounted) spawnSync("umount", ["-l", this.path]);
  }
}
