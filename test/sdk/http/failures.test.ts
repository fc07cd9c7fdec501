import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { unreachable } from "../../../sdk/http/failures.ts";
import { openFetch, type Transport } from "../../../sdk/http/transport.ts";
import { openUndici } from "../../../sdk/http/transport-undici.ts";
import {
  PurgeConflict,
  PurgeError,
  type PurgeErrorCode,
  PurgeForbidden,
  PurgeRateLimited,
  PurgeRejected,
  type PurgerOptions,
  PurgeTimeout,
  PurgeUnauthorized,
  PurgeUnreachable,
} from "../../../sdk/index.ts";
import { type Act, accepts, deadEndpoint, receiptBody, refuses, startFakeEdge } from "../fake-edge.ts";
import { purgerUnderTest, TOKEN } from "../purger-under-test.ts";
import { createVirtualClock, type VirtualClock } from "../virtual-clock.ts";

interface Failure {
  name: string;
  /** The edge's act for each request. If it is absent, nothing listens at the address. */
  edge?: (clock: VirtualClock) => Act[];
  options?: PurgerOptions;
  expect: {
    class: new (...args: never[]) => PurgeError;
    code: PurgeErrorCode;
    status?: number;
    attempts: number;
    retryable: boolean;
    message: RegExp;
    /** Further fields of the error. */
    also?: object;
  };
}

const html = { headers: { "content-type": "text/html; charset=utf-8" }, text: "<h1>Welcome</h1>" };

/** The edge stalls until the default deadline has passed. */
const tooLong = (clock: VirtualClock): Act => ({ stallsAfterBytes: 0, afterwards: () => clock.advance(10_000) });

const failures: Failure[] = [
  {
    name: "no endpoint",
    options: { endpoint: "" },
    expect: {
      class: PurgeError,
      code: "not-configured",
      attempts: 0,
      retryable: false,
      message: /no endpoint.*Set TIDEMARK_ENDPOINT.*TIDEMARK_TOKEN.*options endpoint and token/,
    },
  },
  {
    name: "no token",
    options: { token: "" },
    expect: {
      class: PurgeError,
      code: "not-configured",
      attempts: 0,
      retryable: false,
      message: /no token.*Set TIDEMARK_ENDPOINT.*TIDEMARK_TOKEN/,
    },
  },
  {
    name: "an endpoint with a path",
    options: { endpoint: "https://www.example.com/blog" },
    expect: {
      class: PurgeError,
      code: "not-configured",
      attempts: 0,
      retryable: false,
      message: /^The option endpoint is not an origin\. .* https:\/\/www\.example\.com or/,
    },
  },
  {
    name: "the token where the endpoint belongs",
    options: { endpoint: TOKEN },
    expect: { class: PurgeError, code: "not-configured", attempts: 0, retryable: false, message: /is not an origin/ },
  },
  {
    name: "a token with a line break inside",
    options: { token: "two\nlines" },
    expect: {
      class: PurgeError,
      code: "not-configured",
      attempts: 0,
      retryable: false,
      message: /^The option token has characters that cannot be sent/,
    },
  },
  {
    name: "an edge that is down",
    expect: {
      class: PurgeUnreachable,
      code: "unreachable",
      attempts: 5,
      retryable: true,
      message:
        /No connection to http.*: ECONNREFUSED.*\(5 attempts\)\. Check that the edge is running, and that TIDEMARK_ENDPOINT/,
      also: { cause: expect.any(Error) },
    },
  },
  {
    name: "an edge that is down, without retries",
    options: { retries: 0 },
    expect: { class: PurgeUnreachable, code: "unreachable", attempts: 1, retryable: true, message: /\(1 attempt\)/ },
  },
  {
    name: "an edge that closes the connection without an answer",
    edge: () => [{ hangsUpAfterBytes: 0 }],
    expect: {
      class: PurgeUnreachable,
      code: "unreachable",
      attempts: 5,
      retryable: true,
      message:
        /The connection to http.* ended before the edge answered: .* \(5 attempts\)\. The purge may have happened/,
    },
  },
  {
    name: "an edge that is slow",
    edge: (clock) => [tooLong(clock)],
    expect: {
      class: PurgeTimeout,
      code: "timeout",
      attempts: 1,
      retryable: true,
      message: /No answer from http.* within 10000 ms \(1 attempt\).*purge again.*set a longer deadlineMs/,
    },
  },
  {
    name: "an edge that fails once and is then slow",
    edge: (clock) => [refuses("unavailable"), tooLong(clock)],
    expect: {
      class: PurgeTimeout,
      code: "timeout",
      attempts: 2,
      retryable: true,
      message: /\(2 attempts\)/,
      also: { cause: expect.objectContaining({ code: "unavailable", attempts: 1 }) },
    },
  },
  {
    name: "an answer that stalls halfway",
    edge: (clock) => [{ ...accepts, stallsAfterBytes: 20, afterwards: () => clock.advance(10_000) }],
    expect: {
      class: PurgeTimeout,
      code: "timeout",
      attempts: 1,
      retryable: true,
      message: /No answer from .* \(1 attempt\)/,
    },
  },
  {
    name: "a token that the edge does not know",
    edge: () => [refuses("unauthorized")],
    expect: {
      class: PurgeUnauthorized,
      code: "unauthorized",
      status: 401,
      attempts: 1,
      retryable: false,
      message: /does not know the token \(401\)\. Set TIDEMARK_TOKEN/,
      also: { cause: expect.objectContaining({ code: "unauthorized" }) },
    },
  },
  {
    name: "a token that may only read",
    edge: () => [refuses("forbidden")],
    expect: {
      class: PurgeForbidden,
      code: "forbidden",
      status: 403,
      attempts: 1,
      retryable: false,
      message: /may not purge \(403\)\. Use a token with the scope purge/,
    },
  },
  {
    name: "an edge whose own token is weak",
    edge: () => [refuses("forbidden", { detail: "The control plane is closed: TIDEMARK_TOKEN is weak: make one." })],
    expect: {
      class: PurgeForbidden,
      code: "forbidden",
      status: 403,
      attempts: 1,
      retryable: false,
      message:
        /accepts no token \(403\)\. The control plane is closed: TIDEMARK_TOKEN is weak: make one\. Correct that in the settings of the edge\./,
    },
  },
  {
    name: "an id that was used for another purge",
    edge: () => [refuses("conflict")],
    expect: {
      class: PurgeConflict,
      code: "conflict",
      status: 409,
      attempts: 1,
      retryable: false,
      message: /knows this id from another purge \(409\)\. Use each id for one purge only, or leave it out/,
    },
  },
  {
    name: "items that the edge refuses",
    edge: () => [
      refuses("invalid", {
        errors: [
          { path: "tags[1]", message: "a tag cannot be empty" },
          { path: "", message: "is too much" },
        ],
      }),
    ],
    expect: {
      class: PurgeRejected,
      code: "invalid",
      status: 400,
      attempts: 1,
      retryable: false,
      message: /\(400\) and purged nothing: tags\[1\]: a tag cannot be empty; is too much\. Correct it/,
      also: {
        errors: [
          { path: "tags[1]", message: "a tag cannot be empty" },
          { path: "", message: "is too much" },
        ],
      },
    },
  },
  {
    name: "more wrong items than a message lists",
    edge: () => [
      refuses("invalid", {
        errors: Array.from({ length: 7 }, (_, i) => ({ path: `urls[${i}]`, message: "is wrong" })),
      }),
    ],
    expect: {
      class: PurgeRejected,
      code: "invalid",
      status: 400,
      attempts: 1,
      retryable: false,
      message: /urls\[4\]: is wrong; and 2 more\./,
    },
  },
  {
    name: "a request that is too large",
    edge: () => [refuses("too-large", { detail: "at most 1 MiB." })],
    expect: {
      class: PurgeRejected,
      code: "too-large",
      status: 413,
      attempts: 1,
      retryable: false,
      message: /\(413\) and purged nothing: at most 1 MiB\. Correct it/,
      also: { errors: [], cause: expect.objectContaining({ detail: "at most 1 MiB." }) },
    },
  },
  ...[html, { text: '{"message":"Request Too Long"}' }].map(
    (foreign): Failure => ({
      name: `a 413 from something in front of the edge, ${foreign.text}`,
      edge: () => [{ status: 413, ...foreign }],
      expect: {
        class: PurgeRejected,
        code: "too-large",
        status: 413,
        attempts: 1,
        retryable: false,
        message: /or something in front of it, takes only smaller bodies \(413\), .*nginx: client_max_body_size/,
        also: { errors: [] },
      },
    }),
  ),
  {
    name: "a media type that the edge does not accept",
    edge: () => [refuses("unsupported-media-type")],
    expect: {
      class: PurgeRejected,
      code: "unsupported-media-type",
      status: 415,
      attempts: 1,
      retryable: false,
      message: /purged nothing: The body is not JSON/,
    },
  },
  {
    name: "an edge that limits the rate",
    edge: () => [refuses("rate-limited", {}, { "retry-after": "1" })],
    expect: {
      class: PurgeRateLimited,
      code: "rate-limited",
      status: 429,
      attempts: 5,
      retryable: true,
      message: /accepts no more purges for now \(429; 5 attempts\)\. Wait 1 s, then name many items in one purge/,
      also: { retryAfterMs: 1_000 },
    },
  },
  {
    name: "an edge whose Retry-After is longer than the deadline",
    edge: () => [refuses("rate-limited", {}, { "retry-after": "10" })],
    expect: {
      class: PurgeRateLimited,
      code: "rate-limited",
      status: 429,
      attempts: 1,
      retryable: true,
      message: /\(429; 1 attempt\)\. Wait 10 s/,
      also: { retryAfterMs: 10_000 },
    },
  },
  {
    name: "a 429 from a firewall in front of the edge",
    edge: () => [{ status: 429, ...html }],
    expect: {
      class: PurgeRateLimited,
      code: "rate-limited",
      status: 429,
      attempts: 5,
      retryable: true,
      message: /\(429; 5 attempts\)\. Wait, then name many items/,
      also: { retryAfterMs: undefined },
    },
  },
  {
    name: "an edge that cannot reach its purge log",
    edge: () => [refuses("unavailable", {}, { "retry-after": "1" })],
    expect: {
      class: PurgeUnreachable,
      code: "unavailable",
      status: 503,
      attempts: 5,
      retryable: true,
      message: /accepts no purges at the moment \(503; 5 attempts\)\. Purge again later/,
      also: { retryAfterMs: 1_000 },
    },
  },
  {
    name: "a proxy that cannot reach the edge",
    edge: () => [
      { status: 502, ...html },
      { status: 504, ...html },
    ],
    expect: {
      class: PurgeUnreachable,
      code: "unavailable",
      status: 504,
      attempts: 5,
      retryable: true,
      message: /accepts no purges at the moment \(504;/,
    },
  },
  {
    name: "a proxy of Cloudflare that cannot reach the edge",
    edge: () => [
      { status: 520, ...html },
      { status: 530, ...html },
    ],
    expect: {
      class: PurgeUnreachable,
      code: "unavailable",
      status: 530,
      attempts: 5,
      retryable: true,
      message: /accepts no purges at the moment \(530;/,
    },
  },
  {
    name: "an edge that fails",
    edge: () => [{ status: 500, ...html }],
    expect: {
      class: PurgeUnreachable,
      code: "server-error",
      status: 500,
      attempts: 1,
      retryable: false,
      message: /failed \(500\)\. The purge may have happened\. Look at the edge's log/,
    },
  },
  {
    name: "a connection that closes halfway through a receipt",
    edge: () => [{ ...accepts, hangsUpAfterBytes: 20 }],
    expect: {
      class: PurgeUnreachable,
      code: "incomplete-answer",
      status: 200,
      attempts: 5,
      retryable: true,
      message: /broke off \(200; 5 attempts\)\. The purge may have happened; purge again to be sure/,
      also: { cause: expect.any(Error) },
    },
  },
  {
    name: "half a receipt that ends like a whole one",
    edge: () => [{ headers: { "content-type": "application/json" }, text: JSON.stringify(receiptBody).slice(0, 20) }],
    expect: {
      class: PurgeUnreachable,
      code: "incomplete-answer",
      status: 200,
      attempts: 5,
      retryable: true,
      message: /The answer from http.* broke off \(200; 5 attempts\)/,
      also: { cause: expect.any(SyntaxError) },
    },
  },
  {
    name: "an HTML page from another server",
    edge: () => [html],
    expect: {
      class: PurgeUnreachable,
      code: "unexpected-answer",
      status: 200,
      attempts: 1,
      retryable: false,
      message: /answered 200 with text\/html, which is not an answer of a Tidemark edge\. Check that TIDEMARK_ENDPOINT/,
    },
  },
  {
    name: "JSON from another server",
    edge: () => [{ json: { ok: true } }],
    expect: {
      class: PurgeUnreachable,
      code: "unexpected-answer",
      status: 200,
      attempts: 1,
      retryable: false,
      message: /answered 200 with JSON that is not a receipt/,
    },
  },
  {
    name: "an empty 204 from another server",
    edge: () => [{ status: 204, text: "" }],
    expect: {
      class: PurgeUnreachable,
      code: "unexpected-answer",
      status: 204,
      attempts: 1,
      retryable: false,
      message: /answered 204 with a body without a type/,
    },
  },
  {
    name: "a 401 from a proxy with its own password",
    edge: () => [{ status: 401, ...html }],
    expect: {
      class: PurgeUnreachable,
      code: "unexpected-answer",
      status: 401,
      attempts: 1,
      retryable: false,
      message: /nothing in front of the edge answers in its place/,
    },
  },
  {
    name: "a refusal in JSON from another server",
    edge: () => [{ status: 403, json: { message: "no" } }],
    expect: {
      class: PurgeUnreachable,
      code: "unexpected-answer",
      status: 403,
      attempts: 1,
      retryable: false,
      message: /answered 403 with JSON that is not a problem report/,
    },
  },
  {
    name: "a redirect, which is not followed",
    edge: () => [{ status: 308, headers: { location: "https://www.example.com/_tidemark/purge" }, text: "" }, accepts],
    expect: {
      class: PurgeUnreachable,
      code: "unexpected-answer",
      status: 308,
      attempts: 1,
      retryable: false,
      message: /answered 308 with a redirect to https:\/\/www\.example\.com,/,
    },
  },
  {
    name: "an answer of 21 MiB",
    edge: () => [{ text: "x".repeat(21 * 1024 * 1024) }],
    expect: {
      class: PurgeUnreachable,
      code: "unexpected-answer",
      status: 200,
      attempts: 1,
      retryable: false,
      message: /answered 200 with more than 20971520 bytes/,
    },
  },
  {
    name: "an edge of a version without this address",
    edge: () => [refuses("not-found")],
    expect: {
      class: PurgeUnreachable,
      code: "not-found",
      status: 404,
      attempts: 1,
      retryable: false,
      message: /accepts no purges at this address \(404\)\. Check that it runs the same version/,
    },
  },
  {
    name: "an address that does not accept POST",
    edge: () => [refuses("method-not-allowed")],
    expect: {
      class: PurgeUnreachable,
      code: "method-not-allowed",
      status: 405,
      attempts: 1,
      retryable: false,
      message: /accepts no purges at this address \(405\)/,
    },
  },
  {
    name: "a problem that this version does not know",
    edge: () => [{ ...refuses("invalid", { code: "teapot" }), status: 418 }],
    expect: {
      class: PurgeUnreachable,
      code: "unexpected-answer",
      status: 418,
      attempts: 1,
      retryable: false,
      message: /answered 418 with the problem "teapot"/,
    },
  },
];

const transports: Record<string, () => Transport> = {
  undici: openUndici,
  "the global fetch": () => openFetch((url, init) => globalThis.fetch(url, init)),
};

describe.each(Object.entries(transports))("over %s", (_, openTransport) => {
  test.for(failures)("$name: the error has its class, code, attempts and advice", async (failure, { expect }) => {
    const clock = createVirtualClock({ skipsUpToMs: 9_999 });
    await using edge = failure.edge ? await startFakeEdge(...failure.edge(clock)) : undefined;
    const endpoint = edge?.endpoint ?? (await deadEndpoint());
    await using cdn = purgerUnderTest({ endpoint, ...failure.options }, { clock, openTransport });

    const error = await cdn.purgeTags("song:42").then(
      () => undefined,
      (thrown: unknown) => thrown,
    );

    const { class: expectedClass, code, status, attempts, retryable, message, also } = failure.expect;
    expect(error).toBeInstanceOf(expectedClass);
    expect(error).toMatchObject({ name: expectedClass.name, code, status, attempts, retryable, ...also });
    expect((error as PurgeError).message).toMatch(message);
    if (attempts > 0) expect((error as PurgeError).message).toContain(endpoint);
    if (edge) expect(edge.requests).toHaveLength(attempts);
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY })).not.toContain(TOKEN);
  });

  test("a port that fetch asks nothing of: the error does not say that the purge may have happened", async () => {
    const clock = createVirtualClock({ skipsUpToMs: 9_999 });
    await using cdn = purgerUnderTest({ endpoint: "http://127.0.0.1:6000" }, { clock, openTransport });
    await expect(cdn.purgeTags("a")).rejects.toThrow(/^No connection to http:\/\/127\.0\.0\.1:6000: bad port \(/);
  });

  test("a port that speaks http under an endpoint with https: the error says so on one line", async () => {
    const clock = createVirtualClock({ skipsUpToMs: 9_999 });
    await using edge = await startFakeEdge(accepts);
    const endpoint = edge.endpoint.replace("http:", "https:");
    await using cdn = purgerUnderTest({ endpoint, retries: 0 }, { clock, openTransport });
    await expect(cdn.purgeTags("a")).rejects.toThrow(
      /^No connection to https:.*: ERR_SSL_WRONG_VERSION_NUMBER, the port does not speak https, perhaps http \(.*\.$/,
    );
  });

  test("a server that speaks another protocol: the error has the reason and no other words", async () => {
    const server = createServer((socket) => void socket.end("SSH-2.0-OpenSSH\r\n")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      await using cdn = purgerUnderTest({ endpoint: `http://127.0.0.1:${port}`, retries: 0 }, { openTransport });
      await expect(cdn.purgeTags("a")).rejects.toThrow(
        "before the edge answered: Response does not match the HTTP/1.1",
      );
    } finally {
      server.close();
    }
  });
});

test("The stack of an error contains the caller's own function", async () => {
  await using edge = await startFakeEdge(refuses("unavailable"), refuses("forbidden"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  async function savePost(): Promise<void> {
    await cdn.purgeTags("post:7");
  }

  const error = await savePost().catch((thrown: unknown) => thrown);

  expect((error as Error).stack).toMatch(/savePost/);
});

test.each([
  ["CERT_HAS_EXPIRED", "certificate has expired"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "unable to get local issuer certificate"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "Host: edge.test. is not in the cert's altnames"],
])("an edge whose certificate is not trusted (%s) is not looked for elsewhere", (code, words) => {
  const { message } = unreachable("https://edge.test", 5, Object.assign(new Error(words), { code }));
  expect(message).toContain(code);
  expect(message).toContain("The edge's certificate is not trusted: renew it,");
  expect(message).not.toContain("is running");
});
