import type { ClientRequest } from "../../engine/scenario.ts";

/** Where a platform answers a request otherwise than the memory engine. docs/http.md tells users of them. */
export interface PlatformDifference {
  readonly platform: "runtime" | "server" | "http2";
  readonly because: string;
  concerns(request: ClientRequest): boolean;
  /** A request that shows it. */
  readonly example: ClientRequest;
}

const valuesOf = ({ fields = {} }: ClientRequest) => Object.values(fields);

const OF_CONNECTIONS = [
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
];

export const platformDifferences: readonly PlatformDifference[] = [
  {
    platform: "server",
    because:
      "417 for any expectation but 100-continue, as RFC 9110 §10.1.1 allows. The Workers runtime lets them pass, and the edge drops them",
    concerns: ({ fields = {} }) => fields.expect !== undefined,
    example: { path: "/a", fields: { expect: "tea" } },
  },
  {
    platform: "http2",
    because: "417 for any expectation but 100-continue, in HTTP/2 as in HTTP/1.1",
    concerns: ({ fields = {} }) => fields.expect !== undefined,
    example: { path: "/a", fields: { expect: "tea" } },
  },
  {
    platform: "http2",
    because: "fields of a connection make a request in HTTP/2 malformed. RFC 9113 §8.2.2",
    concerns: ({ fields = {} }) => OF_CONNECTIONS.some((name) => fields[name] !== undefined),
    example: { path: "/a", fields: { connection: "close" } },
  },
  {
    platform: "runtime",
    because: "the Workers runtime reads fields as UTF-8, and replaces bytes that are none. RFC 9110 §5.5",
    concerns: (request) => valuesOf(request).some((value) => /[^\x20-\x7e]/.test(value)),
    example: { path: "/a", fields: { "user-agent": "\u00ff\u0080" } },
  },
  {
    platform: "runtime",
    because: "the Workers runtime drops usual fields that are empty",
    concerns: (request) => valuesOf(request).includes(""),
    example: { path: "/a", fields: { authorization: "" } },
  },
];
