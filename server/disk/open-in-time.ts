import { messageOf } from "../message-of.ts";
import { inBackground } from "../pause.ts";
import { CacheFolder } from "./cache-folder.ts";
import { DiskHealth, RETRY_MS } from "./disk-health.ts";

export interface Opening {
  /** Receives a line for the owner when the folder cannot be opened, and when that is over. */
  readonly say: (line: string) => void;
  /** Whether nobody needs the folder any more. */
  readonly isOver: () => boolean;
}

/**
 * Opens the folder of the pages, or makes it, as soon as its disk takes writes. Resolves to false if it is over before that, or
 * if the folder turns out to hold other files. Never rejects.
 */
export async function openInTime(
  path: string,
  { say, isOver }: Opening,
  wait: (ms: number) => Promise<unknown> = inBackground,
): Promise<boolean> {
  const health = new DiskHealth(path, Date.now, say);
  for (; !isOver(); await wait(RETRY_MS)) {
    try {
      CacheFolder.open(path);
      health.worked("write");
      return true;
    } catch (cause) {
      if (health.failed((cause as Error).cause, "write")) continue;
      say(`${messageOf(cause)} For now, pages are kept only in memory.`);
      return false;
    }
  }
  return false;
}
