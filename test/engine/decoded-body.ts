import type { Agent } from "node:http";
import { type BrotliOptions, brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { exchangeBytes, type WireRequest } from "../../local/cdn/exchange.ts";
import type { ClientAnswer } from "./engine.ts";
import { heldDictionary } from "./held-dictionaries.ts";
import { type ClientRequest, HOST } from "./scenario.ts";

/** A request whose client may listen for interim responses, and may send any bytes. */
export type HeardRequest = Omit<ClientRequest, "body"> & Pick<WireRequest, "body" | "onInterim">;

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
    case "dcb": {
      const { dictionary, rest } = byDictionary(bytes, "ff444342");
      return brotliDecompressSync(rest, { dictionary } as BrotliOptions);
    }
    case "dcz": {
      const { dictionary, rest } = byDictionary(bytes, "5e2a4d1820000000");
      return zstdDecompressSync(rest, { dictionary });
    }
    default:
      return bytes;
  }
}

/** RFC 9842 §4, §5: a magic number and the SHA-256 of the dictionary come first. Throws if the client does not hold it. */
function byDictionary(bytes: Uint8Array, magic: string): { dictionary: Uint8Array; rest: Uint8Array } {
  const at = magic.length / 2;
  const found = Buffer.from(bytes.subarray(0, at)).toString("hex");
  if (found !== magic) throw new Error(`the body begins with ${found}, and not with ${magic}`);
  const hash = Buffer.from(bytes.subarray(at, at + 32)).toString("base64");
  return { dictionary: heldDictionary(hash), rest: bytes.subarray(at + 32) };
}

/** One exchange over a socket by a client that decodes what it gets. */
export async function decodingExchange(edge: URL, agent: Agent, request: HeardRequest): Promise<ClientAnswer> {
  const { bytes, ...answer } = await exchangeBytes(edge, agent, { host: HOST, ...request });
  return { ...answer, body: decodedText(bytes, answer.fields["content-encoding"]) };
}
