/** Why `host` is refused. It names a host of the site only if that differs from `host` in its port alone. */
export function unknownHost(host: string, hosts: readonly string[]): string {
  return `${host} is not a host of this site${otherPort(host, hosts)}`;
}

/** The end of a refusal of `host`, which says so if one of `hosts` has its name and another port. */
export function otherPort(host: string, hosts: readonly string[]): string {
  const nameOf = (each: string) => each.replace(/:\d+$/, "");
  const other = hosts.find((each) => nameOf(each) === nameOf(host));
  return other === undefined ? "" : `, but ${other} is: the port counts`;
}
