import { chances } from "../../engine/chances.ts";
import type { ClientRequest } from "../../engine/scenario.ts";
import type { Configuration } from "./configurations.ts";

/** A request that both caches get, or something that happens to both. */
export type Step =
  | { readonly kind: "request"; readonly request: ClientRequest & { readonly host: string } }
  | { readonly kind: "time"; readonly seconds: number }
  /** From now on the origin answers with 503, not at all, with 404, or again as it should. */
  | { readonly kind: "origin"; readonly state: OriginState };

export type OriginState = "works" | "fails" | "is silent" | "has lost its pages";

const REQUESTS = 200;

/** 200 requests for a site, and what happens between them: first what every visitor sends, then also what some do. */
export function stepsFor(configuration: Configuration, seed: number): readonly Step[] {
  const chance = chances(seed);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!;
  const { hosts, paths, fields = [], cookies = [], queries = [], asked = [] } = configuration;
  const steps: Step[] = asked.flatMap((each) => {
    const request = { host: hosts[0]!, ...each };
    return [request, request].map((both) => ({ kind: "request", request: both }) as const);
  });
  // The same again from an origin in trouble, soon after their lifetimes and long after.
  const again = steps.filter((_, index) => index % 2 === 0);
  const troubles = [
    [100, "has lost its pages"],
    [100, "fails"],
    [2000, "fails"],
  ] as const;
  for (const [seconds, state] of again.length > 0 ? troubles : []) {
    steps.push(
      { kind: "origin", state: "works" },
      ...again,
      { kind: "time", seconds },
      { kind: "origin", state },
      ...again,
    );
  }
  steps.push({ kind: "origin", state: "works" });
  let state: OriginState = "works";
  for (let sent = 0; sent < REQUESTS; ) {
    if (chance() < 0.08) steps.push({ kind: "time", seconds: oneOf([2, 40, 400, 2000, 40_000]) });
    if (chance() < (state === "works" ? 0.04 : 0.3)) {
      state = state === "works" ? oneOf(["fails", "is silent", "has lost its pages"] as const) : "works";
      steps.push({ kind: "origin", state });
    }
    const isPlain = sent < REQUESTS / 2;
    const own: Record<string, string> = !isPlain && chance() < 0.4 && fields.length > 0 ? { ...oneOf(fields) } : {};
    const sites = [...cookies, "theme=dark", "_ga=GA1.1.1", "sessionid=alice"];
    if (!isPlain && chance() < 0.3) own.cookie = oneOf(sites);
    if (!isPlain && chance() < 0.06) own.authorization = "Basic YTpi";
    if (!isPlain && chance() < 0.04) own["cache-control"] = oneOf(["no-cache", "no-store"]);
    if (!isPlain && chance() < 0.04) own.range = "bytes=0-3";
    const query = chance() < 0.35 ? oneOf([...queries, ...(isPlain ? [] : ["?utm_source=mail", "?page=2"]), ""]) : "";
    const method = chance() < 0.1 ? oneOf(["HEAD", "POST"]) : "GET";
    const host = !isPlain && chance() < 0.03 ? "other.example.org" : chance() < 0.8 ? hosts[0]! : oneOf(hosts);
    const path = oneOf(paths);
    const request = { method, host, path: path + query, fields: own, ...(method === "POST" && { body: "a=1" }) };
    steps.push({ kind: "request", request });
    // What was asked for a moment ago shows what is stored.
    if (chance() < 0.6) {
      const again = { method: "GET", host, path: path + query, fields: chance() < 0.5 ? own : {} };
      steps.push({ kind: "request", request: again });
    }
    sent = steps.filter(({ kind }) => kind === "request").length;
  }
  return steps.slice(0, steps.findLastIndex(({ kind }) => kind === "request") + 1);
}
