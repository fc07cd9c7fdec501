import { expect, test } from "vitest";
import { readOriginAddress } from "../../../server/origin/origin-address.ts";
import {
  addressesToOpen,
  addressWithTls,
  leadsBack,
  localHosts,
  readListenAddress,
} from "../../../server/startup/listen-addresses.ts";

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

test.each([
  ["8080", "http://localhost:8080", true],
  ["8080", "http://localhost.:8080", true],
  ["8080", "http://0.0.0.0:8080", true],
  ["8080", "http://[::]:8080", true],
  ["8080", "http://[::ffff:127.0.0.1]:8080", true],
  ["8080", "http://127.0.0.2:8080", false],
  ["8080", "http://localhost:8081", false],
  ["8080", "https://localhost:8080", false],
  ["127.0.0.2:8080", "http://127.0.0.2:8080", true],
  ["127.0.0.2:8080", "http://127.0.0.1:8080", false],
  ["*:80", "http://localhost", true],
  ["*:80", "http://127.0.0.2", true],
  [":80", "http://127.0.0.2", true],
  ["0.0.0.0:80", "http://127.0.0.2", true],
  ["*:80", "http://10.0.0.1", false],
  ["10.0.0.1:80", "http://10.0.0.1", true],
  ["10.0.0.1:80", "http://localhost", false],
  ["unix:/run/edge.sock", "http://localhost", false],
  ["unix:/run/edge.sock", "unix:/run/edge.sock", true],
  ["80", "unix:/run/app.sock", false],
])("who listens on %s and asks its origin at %s asks itself: %s", (listen, origin, isItself) => {
  expect(leadsBack(readListenAddress(listen)!, readOriginAddress(origin)!)).toBe(isItself);
});

test("the first address with TLS is found among others, if there is one", () => {
  const plain = readListenAddress("80")!;
  const [first, second] = [443, 8443].map((port) => ({ host: "::", port, scheme: "https" }) as const);
  expect(addressWithTls([{ path: "/run/edge.sock" }, plain, first!, second!])).toBe(first);
  expect(addressWithTls([{ path: "/run/edge.sock" }, plain])).toBeUndefined();
});

test.each([
  { named: [], opens: ["localhost:8080"] },
  { named: ["*:80"], opens: [":::80"] },
  { named: [], hasCertificates: true, opens: [":::80", "https://:::443"] },
  { named: ["*:80"], hasCertificates: true, opens: [":::80", "https://:::443"] },
  { named: ["unix:/run/edge.sock"], hasCertificates: true, opens: ["/run/edge.sock", "https://:::443"] },
  { named: ["https *:8443"], hasCertificates: true, opens: ["https://:::8443"] },
  { named: [], hasCertificates: true, hasSockets: true, opens: [] },
  { named: ["*:80"], hasCertificates: true, hasSockets: true, opens: [":::80"] },
])(
  "a server for which $named is named (certificates: $hasCertificates, sockets open: $hasSockets) opens $opens",
  ({ named, hasSockets = false, hasCertificates = false, opens }) => {
    const read = named.map((text) => {
      const address = readListenAddress(text.replace("https ", ""))!;
      return text.startsWith("https ") && "port" in address ? { ...address, scheme: "https" as const } : address;
    });
    const opened = addressesToOpen(read, { hasSockets, hasCertificates }).map((address) =>
      "path" in address
        ? address.path
        : `${address.scheme === "https" ? "https://" : ""}${address.host}:${address.port}`,
    );
    expect(opened).toEqual(opens);
  },
);
