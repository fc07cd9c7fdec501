import { expect, test } from "vitest";
import { type HttpsRedirect, redirectToHttps } from "../../../server/connections/https-redirect.ts";

const redirect: HttpsRedirect = { status: 308, port: 443, hosts: null, publicHost: null };

const cases: readonly { name: string; url: string; given: Partial<HttpsRedirect>; location: string | null }[] = [
  { name: "keeps path and query", url: "http://a.test/b%20c?d=/e", given: {}, location: "https://a.test/b%20c?d=/e" },
  { name: "leaves out the port of http", url: "http://a.test:8080/", given: {}, location: "https://a.test/" },
  {
    name: "has the port of https",
    url: "http://a.test:8080/",
    given: { port: 8443 },
    location: "https://a.test:8443/",
  },
  {
    name: "has the port of https if the site's hosts have it",
    url: "http://a.test/",
    given: { port: 8443, hosts: ["a.test", "a.test:8443"] },
    location: "https://a.test:8443/",
  },
  {
    name: "has no port if the site's hosts have none",
    url: "http://a.test/",
    given: { port: 8443, hosts: ["a.test"] },
    location: "https://a.test/",
  },
  {
    name: "goes only to hosts of the site",
    url: "http://b.test/",
    given: { hosts: ["a.test"] },
    location: null,
  },
  {
    name: "goes to the one public host",
    url: "http://b.test/c",
    given: { publicHost: "www.a.test", hosts: ["www.a.test"] },
    location: "https://www.a.test/c",
  },
  { name: "is not made for a URL that the edge refuses", url: "http://a.test/%00", given: {}, location: null },
  {
    name: "has an IPv6 host in brackets",
    url: "http://[::1]:80/",
    given: { port: 8443 },
    location: "https://[::1]:8443/",
  },
];

test.each(cases)("the redirect $name", ({ url, given, location }) => {
  const answer = redirectToHttps(url, { ...redirect, ...given });
  expect(answer?.fields.get("location") ?? null).toBe(location);
});

test.each([301, 308] as const)("its status is the owner's choice: %d", (status) => {
  expect(redirectToHttps("http://a.test/", { ...redirect, status })!.status).toBe(status);
});
