import { isIP } from "node:net";
import { isWithin, readNetwork } from "../../worker/rules/forwarding/trusted-proxies.ts";
import type { OriginAddress } from "../origin/origin-address.ts";
import type { HostAddress, ListenAddress } from "../supervisor/listening-sockets.ts";

const MAX_PORT = 65_535;

/** The loopback hosts as they stand in URLs. */
const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

const networks = (...texts: readonly string[]) => texts.map((text) => readNetwork(text)!);
const LOOPBACK_NETWORK = networks("127.0.0.0/8");
/** To listen there is to listen at all addresses, and a connection to one arrives at `localhost`. */
const EVERY_ADDRESS = networks("0.0.0.0", "::");
const LOCALHOST = [...networks("127.0.0.1", "::1"), ...EVERY_ADDRESS];

/**
 * Reads where to listen: a port (on loopback), `127.0.0.1:8080`, `[::]:80`, `*:80` for every address, or
 * `unix:/run/tidemark.sock`. `null` if it is none of these.
 */
export function readListenAddress(text: string): ListenAddress | null {
  const path = /^unix:(?:\/\/)?(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { path };
  const [, host = "localhost", digits] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > MAX_PORT) return null;
  if (host === "*" || host === "") return { host: "::", port };
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (bare.includes(":") && (isIP(bare) !== 6 || bare === host)) return null;
  return /^[A-Za-z0-9.:_-]+$/.test(bare) ? { host: bare, port } : null;
}

const DEFAULT: HostAddress = { host: "localhost", port: 8080 };
/** Where browsers and authorities of certificates ask. */
const HTTP: HostAddress = { host: "::", port: 80 };
const HTTPS: HostAddress = { host: "::", port: 443, scheme: "https" };

/**
 * Where to listen. `named`: by the owner. `hasSockets`: some are open already, and theirs are enough.
 * `hasCertificates`: these are for TLS, so port 443 is added to addresses that are all without TLS.
 */
export function addressesToOpen(
  named: readonly ListenAddress[],
  { hasSockets, hasCertificates }: { readonly hasSockets: boolean; readonly hasCertificates: boolean },
): readonly ListenAddress[] {
  if (hasSockets) return named;
  if (named.length === 0) return hasCertificates ? [HTTP, HTTPS] : [DEFAULT];
  return hasCertificates && addressWithTls(named) === undefined ? [...named, HTTPS] : named;
}

/** The host and the port for a URL by which this machine reaches an address, as `127.0.0.1:8080`. */
export function localAuthority(address: string): string {
  const [, host = "", port] = /^(.*):(\d+)$/.exec(address) ?? [];
  return [...LOOPBACK, "0.0.0.0", "[::]"].includes(host) ? `localhost:${port}` : address;
}

/** An address as an owner writes it. */
export function writtenAddress(address: ListenAddress): string {
  if ("path" in address) return `unix:${address.path}`;
  const { host, port } = address;
  return `${host === "::" ? "*" : isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** The first address with TLS, which is not spoken on unix sockets. */
export function addressWithTls(listen: readonly ListenAddress[]): HostAddress | undefined {
  return listen.find((address): address is HostAddress => "port" in address && address.scheme === "https");
}

/** Whether only this machine reaches the address. A unix socket is reached by those whom its folder lets in. */
export function isLocal(address: ListenAddress): boolean {
  if ("path" in address) return true;
  return address.host === "localhost" || address.host === "::1" || /^127\./.test(address.host);
}

/** The names under which this machine reaches a port of its own, as `hosts` of a site has them. */
export function localHosts(address: ListenAddress): string[] {
  if ("path" in address) return ["localhost"];
  const isDefault = address.port === (address.scheme === "https" ? 443 : 80);
  const own = isIP(address.host) === 6 ? `[${address.host}]` : address.host;
  const hosts = [...new Set([...LOOPBACK, own])];
  return hosts.map((host) => (isDefault ? host : `${host}:${address.port}`));
}

/** Whether a server that listens there would ask itself at an origin's address. */
export function leadsBack(address: ListenAddress, { url, socketPath }: OriginAddress): boolean {
  if ("path" in address) return address.path === socketPath;
  const { protocol, hostname, port } = new URL(url);
  if (socketPath !== null || protocol !== `${address.scheme ?? "http"}:`) return false;
  if (Number(port || (protocol === "https:" ? 443 : 80)) !== address.port) return false;
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const isLocalhost = (each: string) => each === "localhost" || isWithin(each, LOCALHOST);
  if (isLocalhost(address.host) && isLocalhost(host)) return true;
  return address.host === host || (isWithin(address.host, EVERY_ADDRESS) && isWithin(host, LOOPBACK_NETWORK));
}
