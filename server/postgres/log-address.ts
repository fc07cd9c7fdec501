import { userInfo } from "node:os";

const HOSTS = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/;

/** Why an address cannot be that of a shared log: what follows the name of the option; `null` if it can. It repeats nothing. */
export function whyNoLogAddress(address: string): string | null {
  const [, hosts] = HOSTS.exec(address) ?? [];
  if (hosts?.includes(",")) return ONE_HOST;
  if (hosts === undefined || !URL.canParse(address)) return "must be like postgres://user@host/database.";
  const { pathname, search, hash, searchParams } = new URL(address);
  if (pathname.includes("@") || hash.includes("@") || /^\?[^=&]*@/.test(search)) {
    return "must have each / ? # and @ of its password percent-encoded, or leave that to PGPASSWORD or ~/.pgpass.";
  }
  const named = [searchParams.get("host"), searchParams.get("target_session_attrs") && ","];
  return named.some((each) => each?.includes(",")) ? ONE_HOST : null;
}

const ONE_HOST =
  "must name one host, without target_session_attrs: a name that leads to the primary, or a proxy that follows it.";

/** `host:port/database`, as far as the URL names them, and nothing of a password. */
export function withoutPassword(url: string): string {
  try {
    const { hostname, port, pathname, search, hash, searchParams } = new URL(url);
    // What stands before the last @ may be a part of a password, and so may the "host" that comes from it.
    if (`${pathname}${search}${hash}`.includes("@")) return "an address whose password is not percent-encoded";
    const host = decodeURIComponent(hostname) || searchParams.get("host") || process.env.PGHOST || "localhost";
    const database = decodeURIComponent(pathname.slice(1)) || process.env.PGDATABASE || userInfo().username;
    return `${host}${port && `:${port}`}/${database}`;
  } catch {
    return "an address that is not a URL";
  }
}
