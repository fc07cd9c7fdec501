import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { Arrivals, forwardedClient } from "../../../server/connections/arrival.ts";
import { addressOf } from "../../../server/connections/proxied-connections.ts";
import { ClientFields } from "../../../server/http1/client-fields.ts";
import { readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";

const proxies = [readNetwork("10.0.0.0/8")!, readNetwork("2001:db8::/32")!];

describe("the client in X-Forwarded-For", () => {
  test.each([
    { name: "the address that the trusted proxy saw", list: "192.0.2.1", client: "192.0.2.1" },
    { name: "the last one that is no trusted proxy", list: "203.0.113.9, 192.0.2.1, 10.0.0.2", client: "192.0.2.1" },
    { name: "the first of several trusted proxies", list: "10.0.0.3, 10.0.0.2", client: "10.0.0.3" },
    { name: "an address with its port", list: "192.0.2.1:4711", client: "192.0.2.1" },
    { name: "an IPv6 address", list: "2001:db9::1", client: "2001:db9::1" },
    { name: "an IPv6 address in brackets, with its port", list: "[2001:db9::1]:4711", client: "2001:db9::1" },
    { name: "nobody, if the last entry is not an address", list: "192.0.2.1, unknown", client: null },
    { name: "the entry after one that is not an address", list: "192.0.2.1, _hidden, 10.0.0.2", client: "10.0.0.2" },
    { name: "the address beside empty entries", list: "203.0.113.9, 192.0.2.1, , 10.0.0.2,", client: "192.0.2.1" },
    { name: "nobody in an empty list", list: "", client: null },
    { name: "nobody without the field", list: null, client: null },
  ])("is $name", ({ list, client }) => {
    expect(forwardedClient(list, proxies)).toBe(client);
  });
});

describe("how a request has arrived", () => {
  const FIELDS = ["X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https"];
  const of = (address: string | null, fields: readonly string[]) =>
    new Arrivals({ scheme: "http", address }, proxies).of(new ClientFields(fields));

  test("comes from a trusted proxy", () => {
    expect(of("10.1.2.3", FIELDS)).toEqual({ scheme: "https", clientAddress: "192.0.2.1", peerAddress: "10.1.2.3" });
  });
  test.each(["192.0.2.99", "11.0.0.0", null])("does not come from %s, which is not trusted", (address) => {
    expect(of(address, FIELDS)).toEqual({ scheme: "http", clientAddress: address, peerAddress: address });
  });
  test.each([
    { proto: "http, https", scheme: "https" },
    { proto: "HTTPS", scheme: "https" },
    { proto: "https, http", scheme: "http" },
    { proto: "wss", scheme: "https" },
    { proto: "https, ws", scheme: "http" },
    { proto: "ftp", scheme: "http" },
    { proto: "", scheme: "http" },
  ])("X-Forwarded-Proto: $proto of a trusted proxy means $scheme", ({ proto, scheme }) => {
    expect(of("10.1.2.3", ["x-forwarded-proto", proto]).scheme).toBe(scheme);
  });
  test("comes from the connection if a trusted proxy says nothing", () => {
    const arrivals = new Arrivals({ scheme: "https", address: "10.1.2.3" }, proxies);
    const expected = { scheme: "https", clientAddress: "10.1.2.3", peerAddress: "10.1.2.3" };
    expect(arrivals.of(new ClientFields([]))).toEqual(expected);
  });
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8::7", "2001:db8::7"],
  ["fe80::7%eth0", "fe80::7"], // the interface is this machine's own: no origin knows it, and no network is compared with it
  [undefined, null],
])("the address %s of a connection is told as %s", (remoteAddress, expected) => {
  expect(addressOf({ remoteAddress } as Socket)).toBe(expected);
});
