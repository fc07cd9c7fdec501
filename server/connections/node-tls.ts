/** `node:tls`, which Node loads at the first call: a server without TLS starts sooner without it. */
export function nodeTls() {
  return process.getBuiltinModule("node:tls");
}
