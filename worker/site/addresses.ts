/** What an address in the settings of a site must be, and the words for one that is not. */
export interface AddressCheck {
  readonly holds: (text: string) => boolean;
  readonly otherwise: string;
}

export const ORIGIN_CHECKS: readonly AddressCheck[] = [
  {
    holds: (text) => isSocket(text) || isOrigin(text),
    otherwise: "is not an address like https://origin.example.com, without a path",
  },
  {
    holds: (text) => !isSocket(text),
    otherwise: "is a socket, which only tidemark serve can ask: name it with --origin or in TIDEMARK_ORIGIN",
  },
];

export const PUBLIC_URL_CHECKS: readonly AddressCheck[] = [
  { holds: isOrigin, otherwise: "is not an address like https://www.example.com, without a path" },
];

export const HOST_CHECKS: readonly AddressCheck[] = [
  {
    holds: (host) => /^[^/?#@\\\s]+$/.test(host),
    otherwise: "is not a host name like www.example.com, without scheme and path",
  },
  {
    holds: (host) => !host.includes("*"),
    otherwise: "matches only itself: name each host, or set TIDEMARK_HOSTS to * for any",
  },
  { holds: (host) => URL.canParse(`http://${host}`), otherwise: "is not a host name" },
];

function isSocket(text: string): boolean {
  return text.startsWith("unix:");
}

/** Whether it is a scheme, a host and perhaps a port alone. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.pathname === "/" && url.search === "" && url.hash === "" && url.username + url.password === "";
}
