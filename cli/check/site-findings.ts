import { addService } from "../../wire/service-binding.ts";
import { mayHang, neverMatches, type SiteReview } from "../../wire/site-review.ts";
import { type Finding, problem, warning } from "./check-report.ts";
import { placeIn, type WranglerSettings } from "./wrangler-settings.ts";

/** What is wrong with a site in one environment of a wrangler config. `entry` is the file with the worker's entry. */
export function siteFindings(config: string, entry: string, settings: WranglerSettings, review: SiteReview): Finding[] {
  const where = placeIn(config, settings);
  if (review.errors.length > 0) {
    const isOfVars = Object.keys(settings.vars).some((name) => name.startsWith("TIDEMARK_"));
    return review.errors.map(({ path, message }) =>
      problem(isOfVars ? `${where}, vars` : entry, `${path}: ${message}`),
    );
  }
  const service = review.originService;
  const findings = review.shadowed.map((route) => problem(`${entry}, routes[${route.index}]`, neverMatches(route)));
  findings.push(...review.slow.map((each) => warning(`${entry}, ${each.place}`, mayHang(each))));
  if (!review.namesHosts) {
    const words =
      'no public host is named, and without one the edge answers 503. Add hosts: ["www.example.com"] to the';
    findings.push(problem(where, `${words} site, or TIDEMARK_HOSTS to vars.`));
  }
  if (review.namesHosts && review.hosts === null) {
    const words = 'TIDEMARK_HOSTS is "*", so the edge answers for every name that reaches it';
    findings.push(warning(where, `${words}. Name the site's hosts instead.`));
  }
  if (service !== null && !settings.services.includes(service)) {
    const words = `the origin is the service ${service}, but there is no binding of that name`;
    findings.push(problem(where, `${words}: ${addService(service)}.`));
  }
  const { hostname, port } = new URL(review.originUrl);
  // Nor does Cloudflare send a worker's requests to an address of another machine.
  if (/^(?:localhost|[\d.]+|\[.*\]|.*\.localhost)$/.test(hostname)) {
    const words = `the origin is ${review.originUrl}, which a deployed edge cannot reach`;
    findings.push(
      warning(where, `${words}. Name an origin that it can reach, or set TIDEMARK_ORIGIN where it is deployed.`),
    );
  } else if (port !== "" && ignoresPorts(settings)) {
    const words = `the origin is ${review.originUrl}, but a deployed edge ignores its port`;
    const how = `Write compatibility_date ${PORTS_SINCE} or later, and no flag ignore_custom_ports.`;
    findings.push(problem(where, `${words}. ${how}`));
  }
  for (const host of settings.routedHosts ?? []) {
    if (review.hosts === null || host.startsWith("*") || review.hosts.includes(host)) continue;
    const words = `routes sends ${host} here, but hosts is ${review.hosts.join(", ")}, so its visitors would get 421`;
    findings.push(problem(where, `${words}. Add it to hosts, or remove it from routes.`));
  }
  return findings;
}

/** The first date from which a worker's requests go to the port that they name. */
const PORTS_SINCE = "2024-09-02";

function ignoresPorts({ compatibilityDate = PORTS_SINCE, compatibilityFlags }: WranglerSettings): boolean {
  if (compatibilityDate >= PORTS_SINCE) return compatibilityFlags.includes("ignore_custom_ports");
  return !compatibilityFlags.includes("allow_custom_ports");
}
