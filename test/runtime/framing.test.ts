import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { sendBytes } from "./raw-connection.ts";
import { SocketOrigin } from "./socket-origin.ts";
import { requestsIn } from "./strict-requests.ts";

/**
 * Bytes that two readers could split into requests differently. The requests that the edge sends to the origin are
 * never ambiguous.
 */
let received = "";
let edge: EdgeRuntime;
const origin = new SocketOrigin((text, socket) => {
  received += text;
  if (/\r\n\r\n/.test(text))
    socket.write(`HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 2\r\n\r\nok`);
});

beforeAll(async () => {
  const script = await bundleWorker("local/runtime/virtual-time.worker.ts");
  // Without second looks, so that every request to the origin belongs to an answer.
  const site = { origin: await origin.start(), secondLook: false };
  const variables = { SITE: site, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
  edge = await startEdgeRuntime({ script, variables }, { port: 0 });
});

afterAll(async () => {
  await edge.stop();
  await origin.stop();
});

let pages = 0;
let path: string;
beforeEach(() => {
  received = "";
  path = `/page-${++pages}`;
});

async function send(bytes: string): Promise<string> {
  return (await sendBytes(edge.url, bytes)).answered;
}

/**
 * The requests in these bytes, without a chunked one that breaks off: its chunks may be refused, and the origin answers before
 * all of them have come.
 */
function wholeRequestsIn(bytes: string): ReturnType<typeof requestsIn> {
  try {
    return requestsIn(bytes);
  } catch (cause) {
    if (/transfer-encoding: chunked/i.test(bytes) && String(cause).includes("half a request")) return [];
    throw cause;
  }
}

const HOST_LINE = `Host: ${HOST}`;

function request(lines: readonly string[], body = ""): string {
  return [...lines, "", ""].join("\r\n") + body;
}

/** Requests whose second half would be a request of its own to a reader with another rule. */
const SMUGGLED = `GET /smuggled HTTP/1.1\r\n${HOST_LINE}\r\n\r\n`;

describe("an ambiguous request is refused, or forwarded without the ambiguity", () => {
  const post = () => [`POST ${path} HTTP/1.1`, HOST_LINE];
  test.each<{ name: string; bytes: () => string }>([
    {
      name: "Content-Length and Transfer-Encoding",
      bytes: () =>
        request(
          [...post(), `Content-Length: ${5 + SMUGGLED.length}`, "Transfer-Encoding: chunked"],
          `0\r\n\r\n${SMUGGLED}`.slice(0, 5),
        ),
    },
    {
      name: "Transfer-Encoding and a Content-Length that ends in a chunk",
      bytes: () =>
        request(
          [...post(), "Transfer-Encoding: chunked", "Content-Length: 4"],
          `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
        ),
    },
    {
      name: "two Content-Length that differ",
      bytes: () => request([...post(), "Content-Length: 0", `Content-Length: ${SMUGGLED.length}`], SMUGGLED),
    },
    { name: "a list of lengths", bytes: () => request([...post(), `Content-Length: 0, ${SMUGGLED.length}`], SMUGGLED) },
    {
      name: "a length with a sign",
      bytes: () => request([...post(), `Content-Length: +${SMUGGLED.length}`], SMUGGLED),
    },
    { name: "a negative length", bytes: () => request([...post(), "Content-Length: -1"], SMUGGLED) },
    {
      name: "a length in hexadecimal digits",
      bytes: () => request([...post(), `Content-Length: 0x${SMUGGLED.length.toString(16)}`], SMUGGLED),
    },
    {
      name: "a length too large for a number",
      bytes: () => request([...post(), "Content-Length: 18446744073709551616"], SMUGGLED),
    },
    {
      name: "a folded Content-Length (obs-fold)",
      bytes: () => request([...post(), "Content-Length:", ` ${SMUGGLED.length}`], SMUGGLED),
    },
    {
      name: "a folded Transfer-Encoding",
      bytes: () => request([...post(), "Transfer-Encoding:", " chunked", "Content-Length: 0"], `0\r\n\r\n`),
    },
    {
      name: "a space before the colon",
      bytes: () => request([...post(), `Content-Length : ${SMUGGLED.length}`], SMUGGLED),
    },
    {
      name: "a coding that is not chunked",
      bytes: () => request([...post(), "Transfer-Encoding: xchunked"], `0\r\n\r\n${SMUGGLED}`),
    },
    {
      name: "two codings",
      bytes: () => request([...post(), "Transfer-Encoding: chunked, identity"], `0\r\n\r\n${SMUGGLED}`),
    },
    {
      name: "chunked with a tab before it",
      bytes: () => request([...post(), "Transfer-Encoding:\u000bchunked"], `0\r\n\r\n${SMUGGLED}`),
    },
    {
      name: "an invalid chunk size",
      bytes: () => request([...post(), "Transfer-Encoding: chunked"], `0x5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`),
    },
    {
      name: "a chunk with an extension",
      bytes: () =>
        request([...post(), "Transfer-Encoding: chunked"], `2;${SMUGGLED.replaceAll("\r\n", " ")}\r\nab\r\n0\r\n\r\n`),
    },
    {
      name: "a chunk that ends with a bare line feed",
      bytes: () => request([...post(), "Transfer-Encoding: chunked"], `2\nab\n0\n\n${SMUGGLED}`),
    },
    {
      name: "a chunk size beyond 64 bits",
      bytes: () => request([...post(), "Transfer-Encoding: chunked"], `10000000000000000\r\n${SMUGGLED}`),
    },
    {
      name: "a NUL in a field",
      bytes: () => request([`GET ${path} HTTP/1.1`, HOST_LINE, `X-A: b\u0000\r\n${SMUGGLED.slice(0, 20)}`]),
    },
    {
      name: "a bare carriage return in a field",
      bytes: () => request([`GET ${path} HTTP/1.1`, HOST_LINE, "X-A: b\rGET /smuggled HTTP/1.1"]),
    },
    ...["\u0001", "\u000b", "\u000c", "\u001b", "\u007f"].map((character) => ({
      name: `${JSON.stringify(character)} in a field`,
      bytes: () => request([`GET ${path} HTTP/1.1`, HOST_LINE, `X-A: ${character}`]),
    })),
    {
      name: "a byte beyond ASCII in a name",
      bytes: () => request([...post(), `Content\u00ff-Length: ${SMUGGLED.length}`], SMUGGLED),
    },
    { name: "a space in the target", bytes: () => request([`GET ${path} /smuggled HTTP/1.1`, HOST_LINE]) },
    { name: "two Host fields", bytes: () => request([`GET ${path} HTTP/1.1`, HOST_LINE, "Host: evil.example"]) },
    {
      name: "a whole URL of another host as target",
      bytes: () => request([`GET http://evil.example${path} HTTP/1.1`, HOST_LINE]),
    },
    {
      name: "a GET with a body that is a request",
      bytes: () => request([`GET ${path} HTTP/1.1`, HOST_LINE, `Content-Length: ${SMUGGLED.length}`], SMUGGLED),
    },
    { name: "HTTP/0.9", bytes: () => `GET /smuggled\r\n` },
    { name: "a line feed alone at the end of lines", bytes: () => `GET ${path} HTTP/1.1\n${HOST_LINE}\nX-A: 1\n\n` },
  ])("$name", async ({ bytes }) => {
    const answered = await send(bytes());
    const taken = wholeRequestsIn(received);
    // A second request that the edge itself recognised is a request of its own, with its own answer, and never a part
    // of another.
    expect(taken.length).toBeLessThanOrEqual([...answered.matchAll(/HTTP\/1\.1 \d{3} /g)].length);
    for (const { line, fields } of taken) {
      expect([`GET ${path} HTTP/1.1`, `POST ${path} HTTP/1.1`, "GET /smuggled HTTP/1.1"]).toContain(line);
      expect(fields.filter((field) => /^host:/i.test(field))).toEqual([expect.stringMatching(/^host: 127\.0\.0\.1:/i)]);
    }
    received = "";
    // Nobody else gets a page that was meant for another visitor.
    const next = await send(request([`GET ${path}-next HTTP/1.1`, HOST_LINE]));
    expect(next).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test("control: two requests on one connection are two requests, and a body is a body", async () => {
    const body = "a=1";
    await send(
      request([`GET ${path} HTTP/1.1`, HOST_LINE]) +
        request([`POST ${path} HTTP/1.1`, HOST_LINE, `Content-Length: ${body.length}`], body),
    );
    expect(requestsIn(received).map(({ line }) => line)).toEqual([`GET ${path} HTTP/1.1`, `POST ${path} HTTP/1.1`]);
    expect(received.endsWith(body)).toBe(true);
  });

  test.each([
    ["two framings", "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a folded field", "GET /a HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n 2\r\n\r\n"],
    ["no request line", "POST /a HTTP/1.1\r\nContent-Length: 1\r\n\r\nabc"],
  ])("control: the strict origin refuses %s", (_, bytes) => {
    expect(() => requestsIn(bytes)).toThrow();
  });
});
