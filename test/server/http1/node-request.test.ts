import { expect, test } from "vitest";
import { ClientFields } from "../../../server/http1/client-fields.ts";
import { NodeRequest, toWebRequest } from "../../../server/http1/node-request.ts";

const ARRIVAL = { scheme: "http", clientAddress: null, peerAddress: null } as const;

test.each(["GET", "TRACE", "TRACK", "CONNECT", "trace", "PURGE", "QUERY"])(
  "%s is a request of the web's class for the control plane",
  (method) => {
    const request = new NodeRequest(method, new ClientFields(["X-A", "1"]), null, ARRIVAL);
    const made = toWebRequest({ request, url: "http://localhost/_tidemark/health" });
    expect([made.method, made.url, made.headers.get("x-a")]).toEqual([
      method,
      "http://localhost/_tidemark/health",
      "1",
    ]);
  },
);
