import { expect, test } from "vitest";
import { ServedHosts } from "../../../local/dev/served-hosts.ts";

const served = new ServedHosts({
  hosts: ["www.Example.test", "m.example.test:8080", "full.example.test."],
  publicUrls: [undefined, "https://a1b2.tunnel.example"],
});

test.each([
  "localhost:8787",
  "shop.localhost:8787",
  "localhost.:8787",
  "www.example.test.:8787",
  "host.docker.internal:8787",
  "host.containers.internal:8787",
  "127.0.0.1:8787",
  "192.168.0.7:8787",
  "[::1]:8787",
  "www.example.test:8787",
  "m.example.test",
  "full.example.test.",
  "a1b2.tunnel.example",
])("%s is served", (host) => {
  expect(served.refuse(new Request(`http://${host}/`, { headers: { host } }))).toBeUndefined();
});

test.each([
  "evil.example:8787",
  "localhost.evil.example",
  "notlocalhost",
  "evil.internal",
  "host.docker.internal.evil.example",
  "evil.example.",
  "127.0.0.1.evil.example",
  "shop.www.example.test",
  "a b",
])("%s is refused, with what to do", async (host) => {
  const refused = served.refuse(new Request("http://localhost:8787/", { headers: { host } }));
  expect([refused?.status, await refused?.text()]).toEqual([
    421,
    expect.stringMatching(/--public, or list it in hosts/),
  ]);
});
