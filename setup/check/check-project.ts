import { relative } from "node:path";
import { gzipSync } from "node:zlib";
import type { SiteReview } from "../../wire/site-review.ts";
import { type CheckReport, type Deployment, type Finding, kibibytes, problem, warning } from "./check-report.ts";
import { buildMessage, bundledBytes, runWorker } from "./run-worker.ts";
import { placeIn, readWranglerSettings, type WranglerSettings, wranglerFindings } from "./wrangler-settings.ts";

/** The largest worker that the paid plan takes, gzipped, and the largest that the free plan takes. */
const MAX_BUNDLE_BYTES = 10 * 1024 ** 2;
const MAX_FREE_BUNDLE_BYTES = 3 * 1024 ** 2;

export interface CheckOptions {
  /** The wrangler config. */
  readonly config: string;
  /** The one environment to check; `null` for all of them. */
  readonly environment: string | null;
}

/** Checks all that can be known before a deployment. Throws `WranglerConfigError` if there is nothing to check. */
export async function checkProject({ config, environment }: CheckOptions): Promise<CheckReport> {
  const settings = await readWranglerSettings(config, environment);
  const findings: Finding[] = [];
  const deployments: Deployment[] = [];
  let bundle: CheckReport["bundle"] = null;
  // Mostly all environments have one entry, and then it is bundled and run once.
  for (const [main, group] of Map.groupBy(settings, (each) => each.main)) {
    if (main === undefined) {
      const words =
        'there is no main, so there is no worker to deploy. Add main = "worker.ts", or whichever file it is.';
      findings.push(problem(placeIn(config, group[0]!), words));
      continue;
    }
    const entry = relative(".", main);
    const ran = await runWorker(
      group[0]!,
      group.map(({ vars }) => vars),
    );
    if (ran.kind === "failed") {
      findings.push(problem(ran.file ?? entry, ran.message));
      continue;
    }
    if (ran.reviews.length === 0) {
      const words = "it does not call createEdge of tidemark/worker, so there is no edge in it.";
      findings.push(problem(entry, `${words} Add: export default createEdge(site);`));
    }
    for (const [index, each] of group.entries()) {
      findings.push(...wranglerFindings(config, each, ran.exported));
      for (const reviews of ran.reviews) {
        const review = reviews[index]!;
        findings.push(...siteFindings(config, entry, each, review));
        if (review.errors.length === 0) {
          deployments.push({ environment: each.environment, origin: review.originUrl, hosts: review.hosts });
        }
      }
    }
    try {
      bundle ??= await weigh(group[0]!);
    } catch (error) {
      findings.push(problem(entry, buildMessage(error)));
    }
  }
  if (bundle !== null) findings.push(...bundleFindings(config, bundle.gzippedBytes));
  return { findings: withoutRepeats(findings), config, bundle, deployments };
}

async function weigh(settings: WranglerSettings): Promise<NonNullable<CheckReport["bundle"]>> {
  const bytes = await bundledBytes(settings);
  return { bytes: bytes.byteLength, gzippedBytes: gzipSync(bytes).byteLength };
}

function siteFindings(config: string, entry: string, settings: WranglerSettings, review: SiteReview): Finding[] {
  const where = placeIn(config, settings);
  if (review.errors.length > 0) {
    // The file's own rules were valid when createEdge took them, so a variable has made them invalid.
    return review.errors.map(({ path, message }) => problem(`${where}, vars`, `${path}: ${message}`));
  }
  const findings = review.shadowed.map(({ match, index, by }) =>
    problem(
      `${entry}, routes[${index}]`,
      `${match} never matches, because routes[${by.index}], ${by.match}, comes first and matches all of it. ` +
        "Move it before that route, or take it out.",
    ),
  );
  if (!review.namesHosts) {
    const words =
      'no public host is named, and without one the edge answers 503. Add hosts: ["www.example.com"] to the';
    findings.push(problem(where, `${words} site, or TIDEMARK_HOSTS to vars.`));
  }
  if (review.namesHosts && review.hosts === null) {
    const words = 'TIDEMARK_HOSTS is "*", so the edge answers for every name that reaches it';
    findings.push(warning(where, `${words}. Name the site's hosts instead.`));
  }
  for (const host of settings.routedHosts ?? []) {
    if (review.hosts === null || host.startsWith("*") || review.hosts.includes(host)) continue;
    const words = `routes sends ${host} here, but hosts is ${review.hosts.join(", ")}, so its visitors would get 421`;
    findings.push(problem(where, `${words}. Add it to hosts, or take it out of routes.`));
  }
  return findings;
}

function bundleFindings(config: string, gzippedBytes: number): Finding[] {
  const size = `the bundle has ${kibibytes(gzippedBytes)} gzipped`;
  if (gzippedBytes > MAX_BUNDLE_BYTES) {
    return [
      problem(config, `${size}, and Cloudflare takes ${kibibytes(MAX_BUNDLE_BYTES)}. Import less in the worker.`),
    ];
  }
  if (gzippedBytes > MAX_FREE_BUNDLE_BYTES) {
    return [warning(config, `${size}, and the free plan takes ${kibibytes(MAX_FREE_BUNDLE_BYTES)}.`)];
  }
  return [];
}

/** What is wrong in the site is wrong in each environment, and said once. */
function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}
