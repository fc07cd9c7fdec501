let loaded: typeof import("node:http2") | undefined;

/** `node:http2`, which is loaded by the first call: a server without TLS starts sooner without it. */
export function nodeHttp2(): typeof import("node:http2") {
  loaded ??= process.getBuiltinModule("node:http2");
  return loaded;
}
