import { readNetwork } from "#tidemark/internal";
import type { Difference, ImportedSite } from "../imported-site.ts";
import type { Directive } from "./files/directives.ts";
import { inForce, type Levels } from "./in-force.ts";

export interface ImportedProxies {
  readonly settings: ImportedSite["settings"];
  readonly differences: readonly Difference[];
  /** The lines that are carried over, or that `differences` tell of. */
  readonly read: ReadonlySet<Directive>;
}

/** The proxies from which a server takes visitors' addresses: `set_real_ip_from`, for `X-Forwarded-For`. */
export function importTrustedProxies(server: Levels): ImportedProxies {
  const lines = inForce(server, "set_real_ip_from");
  const header = inForce(server, "real_ip_header")[0];
  const dropped = (line: Directive, why: string): Difference => {
    return { kind: "dropped", source: line.source, why, aspects: [], affects: { routes: null } };
  };
  const field = header?.args[0]?.toLowerCase() ?? "x-real-ip";
  if (lines.length === 0 || field !== "x-forwarded-for") return { settings: [], differences: [], read: new Set() };
  const differences: Difference[] = [];
  const networks: string[] = [];
  const carried: Directive[] = [];
  for (const line of lines) {
    const network = networkIn(line.args[0] ?? "");
    if (network === null) {
      differences.push(dropped(line, "In trustedProxies, tidemark serve takes addresses and networks alone."));
    } else if (network.endsWith("/0")) {
      const why =
        "With everybody in trustedProxies, each visitor could choose his address: name the proxies' own there.";
      differences.push(dropped(line, why));
    } else {
      networks.push(network);
      carried.push(line);
    }
  }
  const read = new Set([...lines, ...(carried.length > 0 ? [header!] : [])]);
  if (carried.length === 0) return { settings: [], differences, read };
  const isRecursive = inForce(server, "real_ip_recursive")[0]?.args[0] === "on";
  const why = [
    "tidemark serve believes X-Forwarded-For of the addresses in trustedProxies, and X-Forwarded-Proto, too: they must replace what visitors send in that.",
    ...(isRecursive ? [] : ["Of several of them in a row it believes each, as with real_ip_recursive on."]),
  ].join(" ");
  differences.push({ kind: "changed", source: header!.source, why, aspects: [], affects: { routes: null } });
  const from = [...carried, header!].map(({ source }) => source);
  return { settings: [{ value: { trustedProxies: [...new Set(networks)] }, from }], differences, read };
}

/** An address or a network as a site has it, which nginx also takes by another of its addresses; `null` for others. */
function networkIn(text: string): string | null {
  const [address = "", prefix, ...rest] = text.split("/");
  const one = readNetwork(address);
  if (one === null || rest.length > 0) return null;
  if (prefix === undefined || readNetwork(text) !== null) return text;
  const isShort = !address.includes(":");
  const bits = BigInt(isShort ? 32 : 128) - BigInt(/^\d{1,3}$/.test(prefix) ? prefix : -1);
  if (bits < 0n || bits > (isShort ? 32n : 128n)) return null;
  const first = (one.firstAddress >> bits) << bits;
  const part = (at: number, width: bigint) => (first >> (BigInt(at) * width)) & ((1n << width) - 1n);
  const named = isShort
    ? [3, 2, 1, 0].map((at) => part(at, 8n)).join(".")
    : new URL(`http://[${[7, 6, 5, 4, 3, 2, 1, 0].map((at) => part(at, 16n).toString(16)).join(":")}]`).hostname;
  return `${named.replace(/^\[|\]$/g, "")}/${prefix}`;
}
