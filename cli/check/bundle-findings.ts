import { type Finding, kibibytes, problem, warning } from "./check-report.ts";

/** The largest worker, gzipped, on the paid plan and on the free plan. */
const MAX_BUNDLE_BYTES = 10 * 1024 ** 2;
const MAX_FREE_BUNDLE_BYTES = 3 * 1024 ** 2;

/** What is wrong with the size of a worker. `config` is its wrangler config. */
export function bundleFindings(config: string, gzippedBytes: number): Finding[] {
  const size = `the bundle has ${kibibytes(gzippedBytes)} gzipped`;
  if (gzippedBytes > MAX_BUNDLE_BYTES) {
    return [
      problem(
        config,
        `${size}, but Cloudflare accepts at most ${kibibytes(MAX_BUNDLE_BYTES)}. Import less in the worker.`,
      ),
    ];
  }
  if (gzippedBytes > MAX_FREE_BUNDLE_BYTES) {
    return [warning(config, `${size}, but the free plan accepts at most ${kibibytes(MAX_FREE_BUNDLE_BYTES)}.`)];
  }
  return [];
}
