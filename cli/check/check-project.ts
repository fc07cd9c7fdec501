import { relative } from "node:path";
import { gzipSync } from "node:zlib";
import { bundleFindings } from "./bundle-findings.ts";
import { type CheckReport, type Deployment, type Finding, problem, warning } from "./check-report.ts";
import { buildMessage, bundledBytes, runWorker } from "./run-worker.ts";
import { siteFindings } from "./site-findings.ts";
import { isToml, placeIn, readWranglerSettings, type WranglerSettings, wranglerFindings } from "./wrangler-settings.ts";

export interface CheckOptions {
  /** The wrangler config. */
  readonly config: string;
  /** The one environment to check; `null` for all of them. */
  readonly environment: string | null;
}

/**
 * Checks everything that can be known before a deployment. Throws `WranglerConfigError` if there is nothing to check.
 */
export async function checkProject({ config, environment }: CheckOptions): Promise<CheckReport> {
  const settings = await readWranglerSettings(config, environment);
  const findings: Finding[] = [];
  const deployments: Deployment[] = [];
  let bundle: CheckReport["bundle"] = null;
  // Environments that share a bundle and its variables share one run.
  for (const group of Map.groupBy(settings, sourceOf).values()) {
    const { main } = group[0]!;
    const configFindings = (exported: readonly string[] | null) =>
      group.flatMap((each) => wranglerFindings(config, each, exported));
    if (main === undefined) {
      const line = isToml(config) ? 'main = "worker.ts"' : '"main": "worker.ts"';
      const words = `there is no main, so there is no worker to deploy. Add ${line}, or another file.`;
      findings.push(problem(placeIn(config, group[0]!), words), ...configFindings(null));
      continue;
    }
    const entry = relative(".", main);
    const ran = await runWorker(group[0]!);
    if (ran.kind === "failed") {
      findings.push(problem(ran.file ?? entry, ran.message), ...configFindings(null));
      continue;
    }
    if (ran.kind === "not-run") {
      const words = "the worker could not be run here, so its site and its exports were not checked:";
      findings.push(warning(entry, `${words} ${ran.message}`), ...configFindings(null));
      continue;
    }
    if (ran.reviews.length === 0) {
      const words = "the worker does not call createEdge of tidemark/worker, so it has no edge.";
      findings.push(problem(entry, `${words} Add: export default createEdge(site);`));
    }
    findings.push(...configFindings(ran.exported));
    for (const each of group) {
      if (ran.closed !== null) findings.push(problem(`${placeIn(config, each)}, vars`, ran.closed));
      for (const review of ran.reviews) {
        findings.push(...siteFindings(config, entry, each, review));
        if (review.errors.length === 0) {
          deployments.push({
            environment: each.environment,
            origin: review.originService ?? review.originUrl,
            hosts: review.hosts,
          });
        }
      }
    }
    try {
      const weighed = await weigh(group[0]!);
      if (bundle === null || weighed.gzippedBytes > bundle.gzippedBytes) bundle = weighed;
    } catch (error) {
      findings.push(
        warning(entry, `the size of the worker's bundle could not be measured here: ${buildMessage(error)}`),
      );
    }
  }
  if (bundle !== null) findings.push(...bundleFindings(config, bundle.gzippedBytes));
  return { findings: withoutRepeats(findings), config, bundle, deployments };
}

/** What a bundle is made of, and how it runs. */
function sourceOf(settings: WranglerSettings): string {
  const { main, minify, keepNames, define, alias, compatibilityFlags, vars, variables } = settings;
  return JSON.stringify([main, minify, keepNames, define, alias, compatibilityFlags, vars, variables]);
}

async function weigh(settings: WranglerSettings): Promise<NonNullable<CheckReport["bundle"]>> {
  const bytes = await bundledBytes(settings);
  return { bytes: bytes.byteLength, gzippedBytes: gzipSync(bytes).byteLength };
}

/** A fault of the site is the same in each environment, and is reported once. */
function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}
