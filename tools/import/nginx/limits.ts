import type { Difference, ImportedSite, Source, Sourced } from "../imported-site.ts";
import type { RoutedLocation } from "./fields.ts";
import type { Directive } from "./files/directives.ts";
import { type Family, handlerOf } from "./handlers.ts";
import { inForce, type Levels } from "./in-force.ts";
import { secondsOf } from "./lifetimes.ts";

/** What a location that goes to an upstream takes its settings from. */
interface ProxiedLocation {
  readonly levels: Levels;
  readonly family: Family;
  readonly routes: readonly string[];
}

/** Larger than anything that is sent, because a site has no settings without a limit. */
const ANY_SIZE = { bytes: Number.POSITIVE_INFINITY, value: "1024GiB" };

/** The largest body that a location takes to the origin. */
function largestBody(server: Directive, proxied: readonly ProxiedLocation[]): Sourced<string | number> | null {
  const sizes = proxied.map(({ levels }) => {
    const line = inForce(levels, "client_max_body_size")[0];
    const [, count = "0", unit = ""] = /^(\d+)([kmg]?)$/i.exec(line?.args[0] ?? "1m") ?? [];
    const exponent = ["", "k", "m", "g"].indexOf(unit.toLowerCase());
    const name = ["", "KiB", "MiB", "GiB"][exponent]!;
    const bytes = Number(count) * 1024 ** exponent;
    const size = bytes === 0 ? ANY_SIZE : { bytes, value: name === "" ? bytes : `${count}${name}` };
    return { ...size, from: [line?.source ?? byDefault(server, "client_max_body_size is 1m")] };
  });
  return sizes.toSorted((a, b) => b.bytes - a.bytes)[0] ?? null;
}

/** The longest wait for an answer that a site may set. */
const MAX_WAIT_SECONDS = 86_400;

/** How long nginx waits if no line says it. */
const DEFAULT_WAIT_SECONDS = 60;

/** Too long a wait to be one for an answer. */
const SOCKET_SECONDS = 3600;

/** The longest wait for the origin of a location, and where nginx waits for another time. */
function longestWait(server: Directive, proxied: readonly ProxiedLocation[]) {
  const waits = proxied.map(({ levels, family, routes }) => {
    const name = `${family}_read_timeout`;
    const line = inForce(levels, name)[0];
    const source = line?.source ?? byDefault(server, `${name} is ${DEFAULT_WAIT_SECONDS}s`);
    const isUpgrade = inForce(levels, `${family}_set_header`).some(
      ({ args }) => args[0]?.toLowerCase() === "upgrade" && args[1] !== "",
    );
    return { seconds: line ? secondsOf(line.args[0] ?? "", source) : DEFAULT_WAIT_SECONDS, source, isUpgrade, routes };
  });
  // A location for WebSockets alone waits for as long as nobody speaks. One for pages as well waits for an answer.
  const ofAnswers = waits.filter(({ isUpgrade, seconds }) => !isUpgrade || seconds < SOCKET_SECONDS);
  const longest = (ofAnswers.length > 0 ? ofAnswers : waits).toSorted((a, b) => b.seconds - a.seconds)[0];
  if (!longest) return null;
  // With 0, nginx gives up at once, which no site can say.
  const seconds = Math.min(longest.seconds || DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS);
  const others = waits.filter((each) => each.seconds !== seconds);
  const byLine = Map.groupBy(others, ({ source: { place, text } }) => `${place}: ${text}`);
  const differences = [...byLine.values()].map((each): Difference => {
    const { source, seconds: inNginx } = each[0]!;
    return {
      kind: "changed",
      source,
      why: `The edge waits up to ${seconds}s for the origin on all routes. nginx waits ${inNginx}s here.`,
      aspects: [],
      affects: { routes: [...new Set(each.flatMap(({ routes }) => routes))] },
    };
  });
  return { value: `${seconds}s`, from: [longest.source], differences };
}

function byDefault({ source }: Directive, setting: string): Source {
  return { place: source.place, text: `server (${setting} by default)` };
}

/** The limits of the site. Throws an `ImportError` for a time that nginx does not know. */
export function importLimits(
  server: Directive,
  routed: readonly RoutedLocation[],
): Pick<ImportedSite, "settings" | "differences"> {
  const proxied = routed.flatMap(({ location, routes }) => {
    const handler = handlerOf(location);
    return handler.kind === "upstream" ? [{ levels: location.answeredBy, family: handler.family, routes }] : [];
  });
  const body = largestBody(server, proxied);
  const wait = longestWait(server, proxied);
  if (body === null || wait === null) return { settings: [], differences: [] };
  const limits = { requestBodyBytes: body.value, originTimeout: wait.value };
  return { settings: [{ value: { limits }, from: [...body.from, ...wait.from] }], differences: wait.differences };
}
