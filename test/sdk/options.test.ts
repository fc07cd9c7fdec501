import { expect, test } from "vitest";
import { createPurger } from "../../sdk/index.ts";
import { findSettings } from "../../sdk/options.ts";
import { accepts, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest } from "./purger-under-test.ts";

const environment = { TIDEMARK_ENDPOINT: "https://www.example.com", TIDEMARK_TOKEN: "from-environment" };

test("A purger can be created without any setting", () => {
  expect(() => createPurger()).not.toThrow();
});

test("The environment is read at each call until it gives both settings", async () => {
  await using edge = await startFakeEdge(accepts);
  const variables: Record<string, string> = {};
  await using cdn = purgerUnderTest({ token: undefined }, { environment: () => variables });

  await expect(cdn.purgeTags("a")).rejects.toMatchObject({ code: "not-configured", attempts: 0 });
  variables.TIDEMARK_ENDPOINT = edge.endpoint;
  await expect(cdn.purgeTags("a")).rejects.toMatchObject({ code: "not-configured", attempts: 0 });
  variables.TIDEMARK_TOKEN = "late";
  await cdn.purgeTags("a");

  expect(edge.requests).toMatchObject([{ headers: { authorization: "Bearer late" } }]);
});

const found = [
  {
    name: "The environment gives both settings",
    options: {},
    expect: { endpoint: "https://www.example.com", token: "from-environment" },
  },
  {
    name: "Each option overrides its environment variable",
    options: { endpoint: "http://localhost:8787/" },
    expect: { endpoint: "http://localhost:8787", token: "from-environment" },
  },
  {
    name: "An endpoint can be a URL",
    options: { endpoint: new URL("https://other.example.com"), token: "x" },
    expect: { endpoint: "https://other.example.com", token: "x" },
  },
  {
    name: "An empty option counts as absent",
    options: { endpoint: "", token: "" },
    expect: { endpoint: "https://www.example.com", token: "from-environment" },
  },
];

test.for(found)("$name", ({ options, expect: expected }) => {
  expect(findSettings(options, environment)).toEqual(expected);
});

const endpoints = [
  "www.example.com",
  "localhost:8787",
  "ftp://www.example.com",
  "https://www.example.com/_tidemark/",
  "https://www.example.com?x",
  "https://www.example.com#x",
  "https://user:secret@www.example.com",
];

test.for(endpoints)("%s is not an endpoint, and the message names the variable but not the value", (endpoint) => {
  const find = () => findSettings({}, { ...environment, TIDEMARK_ENDPOINT: endpoint });

  expect(find).toThrow(/^TIDEMARK_ENDPOINT is not an origin\. Write .*http:\/\/localhost:8787\.$/);
  expect(find).not.toThrow(/secret/);
});
