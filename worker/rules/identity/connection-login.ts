/**
 * Whether a field logs in the connection that it comes on, so that the origin answers whatever follows there as it answers this
 * visitor. RFC 4559 §6; NTLM does the same.
 */
export function logsInConnection([name, value]: readonly [name: string, value: string]): boolean {
  return name === "authorization" && /^\s*(?:ntlm|negotiate)\b/i.test(value);
}
