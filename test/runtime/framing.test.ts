import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundleWorker } from "../../local/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { SocketOrigin } from "./socket-origin.ts";

/** Bytes that two readers could split into requests differently: what the origin gets of them is never ambiguous. */
let received = "";
let edge: EdgeRuntime;
const origin = new SocketOrigin((text, socket) => {
  received += text;
  if (/\r\n\r\n/.test(text))
    socket.write(`HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 2\r\n\r\nok`);
});

beforeAll(async () => {
  const script = await bundleWorker("local/virtual-time.worker.ts");
  const variables = { SITE: { origin: await origin.start() }, TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN };
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

/** Sends bytes as they are, says that nothing more comes, and reads until the edge hangs up or the last answer is there. */
async function send(bytes: string): Promise<string> {
  const socket = connect(Number(edge.url.port), edge.url.hostname);
  let answered = "";
  socket.on("data", (chunk) => {
    answered += chunk.toString("latin1");
  });
  socket.on("error", () => undefined); // The edge may reset what it will not read.
  await once(socket, "connect");
  socket.end(Buffer.from(bytes, "latin1"));
  await once(socket, "close");
  return answered;
}

const HOST_LINE = `Host: ${HOST}`;

function request(lines: readonly string[], body = ""): string {
  return [...lines, "", ""].join("\r\n") + body;
}

interface Taken {
  readonly line: string;
  readonly fields: readonly string[];
}

/** The requests that a strict origin reads out of the bytes it got. Throws on what could be read in two ways. */
function takenOf(bytes: string): Taken[] {
  const taken: Taken[] = [];
  for (let rest = bytes; rest !== ""; ) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) throw new Error(`no end of fields: ${rest}`);
    const [line = "", ...fields] = rest.slice(0, end).split("\r\n");
    if (!/^[A-Z]+ [\x21-\x7e]+ HTTP\/1\.1$/.test(line)) throw new Error(`no request line: ${line}`);
    const odd = fields.find((field) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+: [\t\x20-\x7e\x80-\xff]*$/.test(field));
    if (odd !== undefined) throw new Error(`no field: ${odd}`);
    const framing = fields.filter((field) => /^(?:content-length|transfer-encoding):/i.test(field));
    if (framing.length > 1) throw new Error(`two framings: ${framing.join(", ")}`);
    taken.push({ line, fields });
    rest = afterBody(rest.slice(end + 4), framing[0]?.toLowerCase());
  }
  return taken;
}

function afterBody(rest: string, framing: string | undefined): string {
  if (framing === undefined) return rest;
  const length = /^content-length: ([0-9]+)$/.exec(framing);
  if (length) return rest.slice(Number(length[1]));
  if (framing !== "transfer-encoding: chunked") throw new Error(`no framing: ${framing}`);
  for (let at = 0; ; ) {
    const size = /^([0-9a-f]+)\r\n/i.exec(rest.slice(at));
    if (!size) throw new Error(`no chunk: ${rest.slice(at)}`);
    at += size[0].length + Number.parseInt(size[1]!, 16) + 2;
    if (size[1] === "0") return rest.slice(at);
  }
}

/** Requests whose second half, read by another rule, would be a request of its own. */
const SMUGGLED = `GET /smuggled HTTP/1.1\r\n${HOST_LINE}\r\n\r\n`;

describe("what is ambiguous is refused, or goes on without the ambiguity", () => {
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
      name: "a length that no number holds",
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
      name: "a chunk size that is none",
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
    const taken = takenOf(received);
    // A second request that the edge saw itself is one, and has its own answer: it is never a part of another.
    expect(taken.length).toBeLessThanOrEqual([...answered.matchAll(/HTTP\/1\.1 \d{3} /g)].length);
    for (const { line, fields } of taken) {
      expect([`GET ${path} HTTP/1.1`, `POST ${path} HTTP/1.1`, "GET /smuggled HTTP/1.1"]).toContain(line);
      expect(fields.filter((field) => /^host:/i.test(field))).toEqual([expect.stringMatching(/^host: 127\.0\.0\.1:/i)]);
    }
    received = "";
    // And nobody else gets a page that was not meant for him.
    const next = await send(request([`GET ${path}-next HTTP/1.1`, HOST_LINE]));
    expect(next).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test("control: two requests on one connection are two requests, and a body is a body", async () => {
    const body = "a=1";
    await send(
      request([`GET ${path} HTTP/1.1`, HOST_LINE]) +
        request([`POST ${path} HTTP/1.1`, HOST_LINE, `Content-Length: ${body.length}`], body),
    );
    expect(takenOf(received).map(({ line }) => line)).toEqual([`GET ${path} HTTP/1.1`, `POST ${path} HTTP/1.1`]);
    expect(received.endsWith(body)).toBe(true);
  });

  test.each([
    ["two framings", "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a folded field", "GET /a HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n 2\r\n\r\n"],
    ["no request line", "POST /a HTTP/1.1\r\nContent-Length: 1\r\n\r\nabc"],
  ])("control: the strict origin refuses %s", (_, bytes) => {
    expect(() => takenOf(bytes)).toThrow();
  });
});
