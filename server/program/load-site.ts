import { Worker } from "node:worker_threads";
import { ConfigFileError, whatItThrew } from "../../package/config-file-error.ts";
import { LOADS_WITHIN_MS, loadsTooLong } from "../../package/import-config.ts";
import { moduleBeside } from "../../package/own-package.ts";
import type { SiteReview } from "../../wire/site-review.ts";
import { reviewSite } from "../../worker/site/review-site.ts";
import type { SiteOverrides } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { variablesOfCompiledCode } from "../compiled-code.ts";
import type { FileStates } from "../startup/watched-files.ts";
import type { ImportedSite } from "./import-site.ts";

/** A site's rules, and what can be said of them. */
export interface LoadedSite {
  readonly site: SiteInput;
  readonly review: SiteReview;
  /** The config and the files of its owner that it imports, as they were before they were read. */
  readonly files: FileStates;
}

type ReviewedSite = Pick<LoadedSite, "site" | "review">;

/** What the thread is asked for. */
export interface ToThread {
  readonly file: string;
  readonly overrides: SiteOverrides;
}

/** What the thread says: each file before it reads that, and then the site, or what is wrong with it. */
export type FromThread =
  | { readonly path: string; readonly state: string }
  | { readonly message: string }
  | (ReviewedSite & Pick<ImportedSite, "isAlone">);

/**
 * Loads sites in threads. Where configs share nothing, one thread loads many of them, because to start one takes twenty
 * times as long. A config that cannot be loaded is told only by a thread that has loaded no other.
 */
export class SiteLoader {
  readonly #free: Worker[] = [];

  /**
   * Loads and reviews a site. Without a file the origin's own fields are the only rules. Throws `ConfigFileError` if the
   * file cannot be read, or if its rules are not valid. Then, too, `read` gets the files of the site, of which the owner
   * has to correct one.
   */
  async load(
    file: string | null,
    overrides: SiteOverrides,
    read = new Map<string, string>(),
    withinMs = LOADS_WITHIN_MS,
  ): Promise<LoadedSite> {
    if (file === null) {
      const site = { origin: overrides.origin! };
      return { ...valid({ site, review: reviewSite(site, overrides) }, "the settings are"), files: new Map() };
    }
    const used = this.#free.pop();
    const loaded = used && (await this.#loadIn(used, { file, overrides }, read, withinMs).catch(() => undefined));
    return loaded ?? this.#loadIn(newThread(), { file, overrides }, read, withinMs);
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all(this.#free.splice(0).map((thread) => thread.terminate()));
  }

  async #loadIn(thread: Worker, asked: ToThread, read: Map<string, string>, withinMs: number): Promise<LoadedSite> {
    const { file } = asked;
    const { promise, resolve, reject } = Promise.withResolvers<ReviewedSite & Pick<ImportedSite, "isAlone">>();
    const files = new Map<string, string>();
    const late = `${file}: ${loadsTooLong(withinMs)}`;
    let timer: NodeJS.Timeout | undefined;
    for (const event of ["message", "error", "exit"]) thread.removeAllListeners(event); // those of the config before
    thread.on("message", (said: FromThread) => {
      // From here on: a busy machine may take long to start the thread.
      timer ??= setTimeout(() => reject(new ConfigFileError(late)), withinMs);
      if ("path" in said) for (const each of [files, read]) each.set(said.path, said.state);
      else if ("message" in said) reject(new ConfigFileError(said.message));
      else resolve(said);
    });
    // Of a promise that the config does not await, for instance.
    thread.on("error", (cause) => reject(new ConfigFileError(`${file}: ${whatItThrew(cause)}`, { cause })));
    thread.on("exit", () => reject(new ConfigFileError(`${file}: the file ended the process that was loading it`)));
    if (thread.threadId < 0) reject(new Error("it has ended since its last config"));
    thread.postMessage(asked);
    try {
      const { isAlone, ...reviewed } = await promise;
      if (isAlone) this.#free.push(thread);
      else await thread.terminate();
      return { ...reviewed, files };
    } catch (error) {
      await thread.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function newThread(): Worker {
  const env = { ...process.env, ...variablesOfCompiledCode() };
  return new Worker(moduleBeside(import.meta.url, "site-thread"), { env });
}

/** Loads one site alone, as `SiteLoader` does. */
export async function loadSite(...what: Parameters<SiteLoader["load"]>): Promise<LoadedSite> {
  const loader = new SiteLoader();
  try {
    return await loader.load(...what);
  } finally {
    await loader.close();
  }
}

/** The same site. Throws `ConfigFileError` if its rules are not valid. */
export function valid(reviewed: ReviewedSite, subject: string): ReviewedSite {
  const { errors } = reviewed.review;
  if (errors.length === 0) return reviewed;
  const lines = errors.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`);
  throw new ConfigFileError(`${subject} not valid:\n${lines.join("\n")}`);
}
