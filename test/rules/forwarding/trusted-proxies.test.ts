import { BlockList, isIPv4 } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isWithin, networkOf, readNetwork } from "../../../worker/rules/forwarding/trusted-proxies.ts";

describe("readNetwork", () => {
  test.each([
    "192.0.2.7",
    "10.0.0.0/8",
    "192.0.2.7/32",
    "2001:db8::/32",
    "::1",
    "::ffff:192.0.2.7",
    "0.0.0.0/0",
    "::/0",
  ])("%s is one", (text) => expect(readNetwork(text)).not.toBeNull());

  test.each([
    "",
    "*",
    "proxy.example.com",
    "10.0.0",
    "10.0.0.256",
    "10.0.0.01",
    "10.0.0.0.",
    "0x0a.0.0.1",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/08",
    "10.0.0.0/8/8",
    "10.0.0.1/8",
    "2001:db8::1/32",
    "2001:db8::/129",
    "[::1]",
    "::1]@[::",
    "fe80::1%eth0",
    "1::2::3",
    " ::1",
  ])("%j is none", (text) => expect(readNetwork(text)).toBeNull());
});

describe("isWithin", () => {
  test.each<[address: string | null, network: string, expected: boolean]>([
    ["10.0.0.0", "10.0.0.0/8", true],
    ["10.255.255.255", "10.0.0.0/8", true],
    ["11.0.0.0", "10.0.0.0/8", false],
    ["9.255.255.255", "10.0.0.0/8", false],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.8", "192.0.2.7", false],
    ["::ffff:10.1.2.3", "10.0.0.0/8", true],
    ["::ffff:a01:203", "10.0.0.0/8", true],
    ["::10.1.2.3", "10.0.0.0/8", false],
    ["2001:DB8:0:0::1", "2001:db8::/32", true],
    ["2001:db9::1", "2001:db8::/32", false],
    ["::1", "::1", true],
    ["10.0.0.1, 192.0.2.7", "10.0.0.0/8", false],
    ["10.0.0.1:443", "10.0.0.0/8", false],
    ["10.1.2.3", "::ffff:0:0/96", true],
    ["", "::/0", false],
    [null, "::/0", false],
  ])("%j in %s: %j", (address, network, expected) => {
    expect(isWithin(address, [readNetwork(network)!])).toBe(expected);
  });

  test("it agrees with Node's BlockList about every address and network", () => {
    const address = fc.oneof(
      fc.tuple(fc.constant(32n), fc.bigInt(0n, 2n ** 32n - 1n)),
      fc.tuple(fc.constant(128n), fc.bigInt(0n, 2n ** 128n - 1n)),
    );
    const hostBits = fc.bigInt(0n, 127n);
    const isNear = fc.boolean();
    const agree = fc.property(address, address, hostBits, isNear, ([size, first], [otherSize, other], bits, near) => {
      const host = bits % size;
      const network = written(size, (first >> host) << host);
      const asked = near ? written(size, first ^ (other % 2n ** host)) : written(otherSize, other);
      const list = new BlockList();
      list.addSubnet(network, Number(size - host), size === 32n ? "ipv4" : "ipv6");
      const expected = list.check(asked, isIPv4(asked) ? "ipv4" : "ipv6");
      expect(isWithin(asked, [readNetwork(`${network}/${size - host}`)!])).toBe(expected);
    });
    fc.assert(agree, { numRuns: 1000 });
  });
});

/** An address of so many bits as text. */
function written(size: bigint, address: bigint): string {
  const [digits, separator, step] = size === 32n ? [10, ".", 8n] : [16, ":", 16n];
  const parts: string[] = [];
  for (let at = size; at > 0n; at -= step) {
    parts.push(((address >> (at - step)) & ((1n << step) - 1n)).toString(digits));
  }
  return parts.join(separator);
}

test.each([
  ["an address of IPv4 is one of its own", "192.0.2.7", "192.0.2.8", false],
  ["and the same when it is mapped into IPv6", "192.0.2.7", "::ffff:192.0.2.7", true],
  ["in each of its forms", "192.0.2.7", "::FFFF:c000:207", true],
  ["addresses of IPv6 with the same 64 bits are one", "2001:db8::1", "2001:DB8:0:0:ffff::2", true],
  ["with others they are not", "2001:db8::1", "2001:db8:0:1::1", false],
  ["what is no address is one of its own", "unix", "unix:2", false],
])("the network of a client: %s", (_, first, second, isOne) => {
  expect(networkOf(first) === networkOf(second)).toBe(isOne);
});
