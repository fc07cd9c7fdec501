import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { openAgent } from "../../../sdk/http/open-agent.ts";
import { startProxy } from "../../suite/connect-proxy.ts";
import { until } from "../../suite/until.ts";
import { accepts, deadEndpoint, startFakeEdge } from "../fake-edge.ts";
import { purgerUnderTest } from "../purger-under-test.ts";

/** No name server knows it, so only the proxy can lead there. */
const ENDPOINT = "http://www.example.test";

const use = (settings: Readonly<Record<string, string>>) => {
  const inCapitals = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: "", HTTPS_PROXY: "", NO_PROXY: "", ...settings };
  for (const [name, value] of Object.entries(inCapitals)) vi.stubEnv(name, value);
  // Those in small letters come first.
  for (const name of ["http_proxy", "https_proxy", "no_proxy"]) vi.stubEnv(name, undefined);
};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test("purges go through the proxy of the environment, over at most eight kept connections, which closing frees", async () => {
  await using edge = await startFakeEdge(accepts);
  await using proxy = await startProxy(edge.endpoint);
  use({ HTTP_PROXY: proxy.url });
  const cdn = purgerUnderTest({ endpoint: ENDPOINT });

  await Promise.all(Array.from({ length: 40 }, (_, i) => cdn.purgeTags(`tag-${i}`, { id: `id-${i}` })));

  expect(edge.requests).toHaveLength(40);
  expect(edge.requests[0]?.headers.host).toBe("www.example.test");
  expect(edge.connections()).toBeLessThanOrEqual(8);
  expect(new Set(proxy.asked)).toEqual(new Set(["www.example.test:80"]));
  await cdn.close();
  await until(() => proxy.open.size === 0);
});

test.each([
  { name: "NO_PROXY names the edge", settings: { NO_PROXY: "127.0.0.1" } },
  { name: "Node uses no proxies", settings: { NODE_USE_ENV_PROXY: "0" } },
])("purges do not go through a proxy if $name", async ({ settings }) => {
  await using edge = await startFakeEdge(accepts);
  await using proxy = await startProxy(null);
  use({ HTTP_PROXY: proxy.url, ...settings });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await cdn.purgeTags("a");

  expect([edge.requests.length, proxy.asked]).toEqual([1, []]);
});

test.each([
  { name: "Node's flag", flags: ["--use-env-proxy"], settings: { NODE_USE_ENV_PROXY: "" }, isUsed: true },
  {
    name: "NODE_OPTIONS",
    flags: [],
    settings: { NODE_USE_ENV_PROXY: "", NODE_OPTIONS: "--use-env-proxy" },
    isUsed: true,
  },
  {
    name: "Node's flag with underscores",
    flags: ["--use_env_proxy"],
    settings: { NODE_USE_ENV_PROXY: "" },
    isUsed: true,
  },
  { name: "a flag against the variable", flags: ["--no-use-env-proxy"], settings: {}, isUsed: false },
])("whether proxies are used is told by $name", async ({ flags, settings, isUsed }) => {
  await using edge = await startFakeEdge(accepts);
  await using proxy = await startProxy(edge.endpoint);
  use({ HTTP_PROXY: proxy.url, ...settings });
  vi.spyOn(process, "execArgv", "get").mockReturnValue(flags);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await cdn.purgeTags("a");

  expect(proxy.asked.length > 0).toBe(isUsed);
});

test("a connection past the proxies is made as the client says", async () => {
  use({ HTTP_PROXY: await deadEndpoint(), NO_PROXY: "*" });
  const agent = openAgent({ connect: { lookup: (_name, _options, done) => done(new Error("asked for"), "") } });
  const asking = agent.request({ origin: ENDPOINT, path: "/", method: "GET" });
  await expect(asking).rejects.toThrow("asked for");
  await agent.destroy();
});

test("a purge that gets no further than the proxy was not sent, and its error says so", async () => {
  await using refusing = await startProxy(null);
  await using hangingUp = await startProxy(false);
  const failures = [
    { proxy: hangingUp.url, reason: "UND_ERR_SOCKET" },
    { proxy: refusing.url, reason: "Proxy response \\(403\\)" },
    { proxy: await deadEndpoint(), reason: "ECONNREFUSED" },
  ];
  for (const { proxy, reason } of failures) {
    use({ HTTP_PROXY: proxy.replace("//", "//user:secret@") });
    await using cdn = purgerUnderTest({ endpoint: ENDPOINT });

    const error: Error = await cdn.purgeTags("a").catch((error) => error);

    const words = `^No connection to ${ENDPOINT}: .*${reason}.*, through the proxy in HTTPS_PROXY or HTTP_PROXY \\(5 attempts\\)`;
    expect(error.message).toMatch(new RegExp(words));
    expect(error.message).not.toMatch(/may have happened|secret/);
    expect(error).toMatchObject({ code: "unreachable", retryable: true });
  }
});

test("a purger can be closed after its proxy has left a purge without an answer", { tags: ["deep"] }, async () => {
  await using proxy = await startProxy(undefined);
  use({ HTTP_PROXY: proxy.url });
  const cdn = purgerUnderTest({ endpoint: ENDPOINT });
  const leaving = new AbortController();
  const purge = cdn.purgeTags("a", { signal: leaving.signal });
  await until(() => proxy.asked.length === 1);
  leaving.abort();
  await expect(purge).rejects.toThrow();
  await cdn.close();
});

test("an idle connection through a proxy does not keep the process running", async () => {
  await using edge = await startFakeEdge(accepts);
  await using proxy = await startProxy(edge.endpoint);
  use({ HTTP_PROXY: proxy.url });
  const program = fileURLToPath(new URL("idle-process.ts", import.meta.url));

  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, TIDEMARK_ENDPOINT: ENDPOINT, TIDEMARK_TOKEN: "a-token" },
  });

  expect(stdout).toBe("purged\nnothing left to do\npurged again\n");
  expect(proxy.asked).toHaveLength(1);
});
