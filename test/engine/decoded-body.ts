import { type Agent, request } from "node:http";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { ClientAnswer } from "./engine.ts";
import { type ClientRequest, HOST } from "./scenario.ts";

/** The text of a body, as a browser shows it. Throws if it is not in the coding that its field names. */
export function decodedText(bytes: Uint8Array, coding: string | undefined): string {
  return Buffer.from(decoded(bytes, coding)).toString();
}

export function decoded(bytes: Uint8Array, coding: string | undefined): Uint8Array {
  if (bytes.byteLength === 0) return bytes; // a HEAD, or a 304
  switch (coding) {
    case "br":
      return brotliDecompressSync(bytes);
    case "gzip":
      return gunzipSync(bytes);
    case "zstd":
      return zstdDecompressSync(bytes);
    default:
      return bytes;
  }
}

/** One exchange over a socket by a client that decodes what it gets. */
export async function decodingExchange(
  edge: URL,
  agent: Agent,
  { method = "GET", path, host = HOST, fields = {}, body }: ClientRequest,
): Promise<ClientAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientAnswer>();
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  const headers = { host, ...length, ...fields };
  const outgoing = request({ host: edge.hostname, port: edge.port, agent, method, path, headers }, (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("error", reject);
    incoming.on("end", () => {
      const lines = Object.entries(incoming.headers).map(([name, value]) => [name, [value].flat().join(", ")]);
      const answered: Record<string, string> = Object.fromEntries(lines);
      const text = decodedText(Buffer.concat(chunks), answered["content-encoding"]);
      resolve({ status: incoming.statusCode ?? 0, fields: answered, body: text, cutOff: false });
    });
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}
