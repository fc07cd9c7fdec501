import type { Agent } from "node:http";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { exchangeBytes, type WireRequest } from "../../local/cdn/exchange.ts";
import type { ClientAnswer } from "./engine.ts";
import { type ClientRequest, HOST } from "./scenario.ts";

/** A request whose client may listen for interim responses. */
export type HeardRequest = ClientRequest & Pick<WireRequest, "onInterim">;

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
export async function decodingExchange(edge: URL, agent: Agent, request: HeardRequest): Promise<ClientAnswer> {
  const { bytes, ...answer } = await exchangeBytes(edge, agent, { host: HOST, ...request });
  return { ...answer, body: decodedText(bytes, answer.fields["content-encoding"]) };
}
