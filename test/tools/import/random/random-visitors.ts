import { chances } from "../../../engine/chances.ts";
import type { ClientRequest } from "../../../engine/scenario.ts";
import { AGENTS, COOKIES, ODD_PATHS, PATHS, QUERIES, REFERERS } from "./words.ts";

/** Requests of several visitors, most of whom ask for the same few pages. */
export function randomRequests(
  seed: number,
  host: string,
  count: number,
): readonly (ClientRequest & { readonly host: string })[] {
  const chance = chances(seed);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!;
  const popular = Array.from({ length: 6 }, () => oneOf(PATHS));
  const pathOf = () => (chance() < 0.08 ? oneOf(ODD_PATHS) : chance() < 0.7 ? oneOf(popular) : oneOf(PATHS));
  let visitors = 0;
  return Array.from({ length: count }, () => {
    const fields: Record<string, string> = {};
    const kind = chance();
    if (kind > 0.9) fields.cookie = `_ga=GA1.1.${visitors}`;
    else if (kind > 0.75) {
      const cookies = Array.from({ length: chance() < 0.7 ? 1 : 2 }, () => `${oneOf(COOKIES)}v${++visitors}`);
      fields.cookie = cookies.join("; ");
    }
    if (chance() < 0.03) fields["x-preview"] = oneOf(["1", "0", `v${++visitors}`]);
    if (chance() < 0.015) fields.authorization = `Basic v${++visitors}`;
    if (chance() < 0.02) fields.pragma = "no-cache";
    if (chance() < 0.02) fields["x-refresh"] = "1";
    const agent = chance() < 0.08 ? oneOf(AGENTS) : "Mozilla/5.0";
    if (agent !== "") fields["user-agent"] = agent;
    if (chance() < 0.1) fields.referer = oneOf(REFERERS);
    const isPlain = chance() < 0.93;
    const method = isPlain ? "GET" : oneOf(["HEAD", "POST"]);
    const path = pathOf() + (chance() < 0.15 ? oneOf(QUERIES) : "");
    return { method, host, path, fields, ...(method === "POST" && { body: "a=1" }) };
  });
}
