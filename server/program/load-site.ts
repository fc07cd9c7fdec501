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

/** A site's rules, and what can be said of them. */
export interface LoadedSite {
  readonly site: SiteInput;
  readonly review: SiteReview;
  /** The config and the files of its owner that it imports, as they were before they were read. */
  readonly files: FileStates;
}

type ReviewedSite = Pick<LoadedSite, "site" | "review">;

/** What the thread says: each file before it reads that, and then the site, or what is wrong with it. */
export type FromThread =
  | { readonly path: string; readonly state: string }
  | { readonly message: string }
  | ReviewedSite;

/**
 * Loads and reviews a site. Without a file the origin's own fields are the only rules. Throws `ConfigFileError` if the
 * file cannot be read, or if its rules are not valid. Then, too, `read` gets the files of the site, of which the owner has
 * to correct one.
 */
export async function loadSite(
  file: string | null,
  overrides: SiteOverrides,
  read = new Map<string, string>(),
  withinMs = LOADS_WITHIN_MS,
): Promise<LoadedSite> {
  if (file === null) {
    const site = { origin: overrides.origin! };
    return { ...valid({ site, review: reviewSite(site, overrides) }, "the settings are"), files: new Map() };
  }
  const thread = new Worker(moduleBeside(import.meta.url, "site-thread"), {
    workerData: { file, overrides },
    env: { ...process.env, ...variablesOfCompiledCode() },
  });
  const { promise, resolve, reject } = Promise.withResolvers<ReviewedSite>();
  const files = new Map<string, string>();
  const late = `${file}: ${loadsTooLong(withinMs)}`;
  let timer: NodeJS.Timeout | undefined;
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
  try {
    return { ...(await promise), files };
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

/** The same site. Throws `ConfigFileError` if its rules are not valid. */
export function valid(reviewed: ReviewedSite, subject: string): ReviewedSite {
  const { errors } = reviewed.review;
  if (errors.length === 0) return reviewed;
  const lines = errors.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`);
  throw new ConfigFileError(`${subject} not valid:\n${lines.join("\n")}`);
}
