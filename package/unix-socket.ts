/**
 * The address in a config whose origin is a socket. No machine has this name (RFC 2606), so it is never asked by
 * mistake.
 */
const NO_ADDRESS = "http://unix-socket.invalid";

/** `unix:/run/app.sock`, with only characters that need no quotes in a shell; `null` for anything else. */
export function readSocket(text: string): string | null {
  const path = /^unix:(?:\/\/)?(\/[\w./@%+-]+)$/.exec(text)?.[1];
  return path === undefined ? null : `unix:${path}`;
}

/** An origin as a config names it. A socket is not in the config: `tidemark serve` gets it by `--origin`. */
export function addressInConfig(origin: string): string {
  return readSocket(origin) === null ? origin : NO_ADDRESS;
}

/** The comment above the origin of a config whose origin is this socket. */
export function socketComment(socket: string): string {
  return `// Name the socket to the server: npx tidemark serve --origin ${socket}`;
}
