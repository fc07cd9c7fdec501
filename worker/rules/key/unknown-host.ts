/** Why `host` is refused. The text names a host of the site only if the two differ only in the port. */
export function unknownHost(host: string, hosts: readonly string[]): string {
  return `${host} is not a host of this site${otherPort(host, hosts)}`;
}

/** The end of a refusal of `host`, with a hint if one of `hosts` has the same name and another port. */
export function otherPort(host: string, hosts: readonly string[]): string {
  const other = hosts.find((each) => withoutPort(each) === withoutPort(host));
  return other === undefined ? "" : `, but ${other} is: the port counts`;
}

export function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}
