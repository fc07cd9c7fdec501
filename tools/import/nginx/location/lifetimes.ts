import type { Difference, Source } from "../../imported-site.ts";
import { importLifetimes } from "../lifetimes.ts";
import type { CachedLocation, LocationPart } from "./cached-location.ts";

/** How long answers are stored: `proxy_cache_valid`, and `proxy_ignore_headers` for lifetimes and `Vary`. */
export function readLifetimes(location: CachedLocation): LocationPart & { readonly storesNothing: boolean } {
  const ignored = location.ignoredFields;
  const ignore = location.read("ignore_headers");
  const valid = location.read("cache_valid");
  const ignoresControl = ignored.has("cache-control");
  const ignoresExpires = ignored.has("expires");
  // If nginx reads one of both fields, an origin can forbid storing by it.
  const { lifetimes, leftOutStatuses, readsOrigins } = importLifetimes(valid, ignoresControl && ignoresExpires);
  const from: Source[] = valid.map(({ source }) => source);
  const differences: Difference[] = [];
  if (leftOutStatuses.length > 0) {
    const line = valid.find(({ args }) => args.includes("any") || leftOutStatuses.includes(Number(args[0])));
    const source = line?.source ?? location.source;
    const why = `Answers with ${someOf(leftOutStatuses)} concern only one request, and are not stored.`;
    differences.push(location.difference("safer", source, why, ["stored"], { statuses: leftOutStatuses }));
  }
  const ofFailure = valid.find(({ args }) =>
    args.slice(0, -1).some((each) => each === "any" || each === "502" || each === "504"),
  );
  if (ofFailure && ofFailure.args.at(-1) !== "0") {
    const why =
      "If the origin gives no answer, the next request asks it again. nginx answered 502 for that time without asking.";
    differences.push(location.difference("safer", ofFailure.source, why, ["stored", "answer"], { statuses: [0] }));
  }
  if (ignoresControl || ignoresExpires) {
    from.push(...ignore.map(({ source }) => source));
    const isOriginsTime = readsOrigins || ignoresControl !== ignoresExpires;
    const why = isOriginsTime
      ? "A lifetime from the origin counts, also for statuses that nginx did not store; the route's lifetime is for answers without one. Answers with private or no-store are not stored. If the origin's lifetimes are wrong, correct them there."
      : "Answers that the origin marks private or no-store are not stored.";
    const answerFields = ["cache-control", "expires"];
    const kind = isOriginsTime ? "changed" : "safer";
    differences.push(location.difference(kind, ignore[0]!.source, why, ["stored", "answer"], { answerFields }));
  }
  if (ignoresControl && !ignoresExpires) {
    const why =
      "A lifetime in Cache-Control counts even beside an Expires in the past, for which nginx stored nothing: RFC 9111 §5.3.";
    const answerFields = ["expires"];
    differences.push(location.difference("changed", ignore[0]!.source, why, ["stored", "answer"], { answerFields }));
  }
  if (ignored.has("vary")) {
    const why = "Vary is obeyed: without it, a visitor could get the page of another language or device.";
    const answerFields = ["vary"];
    differences.push(location.difference("safer", ignore[0]!.source, why, ["stored", "answer"], { answerFields }));
  }
  const storesNothing = ignoresControl && ignoresExpires && Object.keys(lifetimes).length === 0;
  return { rules: lifetimes, from, differences, storesNothing };
}

function someOf(statuses: readonly number[]): string {
  return statuses.length <= 4 ? statuses.join(", ") : `${statuses.slice(0, 3).join(", ")} and the like`;
}
