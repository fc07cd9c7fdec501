import { expect, test } from "vitest";
import { addressWithTls, localHosts, readListenAddress } from "../../../server/startup/listen-addresses.ts";

const LOOPBACK = ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"];

test.each([
  ["8080", LOOPBACK],
  ["127.0.0.1:8080", LOOPBACK],
  ["[::1]:8080", LOOPBACK],
  ["127.0.0.5:8080", [...LOOPBACK, "127.0.0.5:8080"]],
  ["127.0.0.5:80", ["localhost", "127.0.0.1", "[::1]", "127.0.0.5"]],
  ["unix:/run/edge.sock", ["localhost"]],
])("who listens on %s for this machine alone is asked for %j", (text, hosts) => {
  expect(localHosts(readListenAddress(text)!)).toEqual(hosts);
});

test("the first address with TLS is found among others, if there is one", () => {
  const plain = readListenAddress("80")!;
  const [first, second] = [443, 8443].map((port) => ({ host: "::", port, scheme: "https" }) as const);
  expect(addressWithTls([{ path: "/run/edge.sock" }, plain, first!, second!])).toBe(first);
  expect(addressWithTls([{ path: "/run/edge.sock" }, plain])).toBeUndefined();
});
