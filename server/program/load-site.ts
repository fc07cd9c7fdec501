import { Worker } from "node:worker_threads";
import { ConfigFileError } from "../../package/config-file-error.ts";
import { moduleBeside } from "../../package/own-package.ts";
import type { SiteReview } from "../../wire/site-review.ts";
import { reviewSite } from "../../worker/site/review-site.ts";
import type { SiteOverrides } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { variablesOfCompiledCode } from "../compiled-code.ts";

/** A site's rules, and what can be said of them. */
export interface LoadedSite {
  readonly site: SiteInput;
  readonly review: SiteReview;
  /** The config and the files of its owner that it imports. */
  readonly files: readonly string[];
}

/** A config that has not loaded then is refused, so that it cannot keep later ones from being loaded: milliseconds. */
const LOADS_WITHIN_MS = 30_000;

/**
 * Loads and reviews a site. Without a file the origin's own fields are the only rules. Throws `ConfigFileError` if the
 * file cannot be read, or if its rules are not valid.
 */
export async function loadSite(
  file: string | null,
  overrides: SiteOverrides,
  withinMs = LOADS_WITHIN_MS,
): Promise<LoadedSite> {
  if (file === null) {
    const site = { origin: overrides.origin! };
    return valid({ site, review: reviewSite(site, overrides), files: [] }, "the settings are");
  }
  const thread = new Worker(moduleBeside(import.meta.url, "site-thread"), {
    workerData: { file, overrides },
    env: { ...process.env, ...variablesOfCompiledCode() },
  });
  const { promise, resolve, reject } = Promise.withResolvers<LoadedSite | { readonly message: string }>();
  thread.on("message", resolve);
  thread.on("error", reject);
  thread.on("exit", () => reject(new ConfigFileError(`${file}: the file ended the process that was loading it`)));
  const late = `${file}: the file has not loaded within ${withinMs / 1000} s; it must not wait for anything`;
  const timer = setTimeout(() => reject(new ConfigFileError(late)), withinMs);
  try {
    const loaded = await promise;
    if ("message" in loaded) throw new ConfigFileError(loaded.message);
    return valid(loaded, `${file} is`);
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

function valid(loaded: LoadedSite, subject: string): LoadedSite {
  const { errors } = loaded.review;
  if (errors.length === 0) return loaded;
  const lines = errors.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`);
  throw new ConfigFileError(`${subject} not valid:\n${lines.join("\n")}`);
}
