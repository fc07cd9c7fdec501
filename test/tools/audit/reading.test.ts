import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textOf } from "../../../tools/audit/charset.ts";
import { cookieNames, readIdentity } from "../../../tools/audit/identity.ts";
import { applyInputs, changedParameter } from "../../../tools/audit/input.ts";
import { Prober } from "../../../tools/audit/prober.ts";
import { endsSession, readTargets, withParameter } from "../../../tools/audit/target.ts";
import { listenLocally, localUrl } from "../../suite/local-url.ts";

const sources = {
  file: () => "Authorization: Bearer abc\nX-Device-Id: 7\n",
  variable: () => "sessionid=abc; theme=dark",
};

describe("credentials are read", () => {
  test.each([
    ["alice=sessionid=abc; theme=dark", { cookie: "sessionid=abc; theme=dark" }],
    ["alice=Cookie: sessionid=abc", { cookie: "sessionid=abc" }],
    ["alice=Authorization: Bearer abc", { authorization: "Bearer abc" }],
    ["alice=@file", { authorization: "Bearer abc", "x-device-id": "7" }],
    ["alice=env:ALICE", { cookie: "sessionid=abc; theme=dark" }],
  ])("%s", (text, credentials) => {
    expect(readIdentity(text, sources)).toEqual({ name: "alice", credentials, canaries: [] });
  });
});

describe("visitors are known by their cookies", () => {
  const session = (digit: string) => `sessionid=${digit.repeat(32)}`;
  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ["all of them", ["sid=a; user=1", "sid=b; user=2"], [], ["sid", "user"]],
    ["not those of analytics", ["sid=a; _ga=1; _pk_id.7=1", "sid=b; _ga=2; _pk_id.7=2"], [], ["sid"]],
    ["not those that all accounts have alike", ["sid=a; theme=dark", "sid=b; theme=dark"], [], ["sid"]],
    ["those that only some accounts have", ["sid=a; admin=1", "sid=b"], [], ["sid", "admin"]],
    ["all those of one account", ["sid=a; theme=dark"], [], ["sid", "theme"]],
    [
      "not those that strangers are given, beside the session of a framework",
      [`${session("1")}; csrftoken=a`, `${session("2")}; csrftoken=b`],
      ["csrftoken"],
      ["sessionid"],
    ],
    [
      "the session, even if strangers have one",
      [`${session("1")}; size=1`, `${session("2")}; size=2`],
      ["sessionid"],
      ["sessionid", "size"],
    ],
    ["what may be a session of one's own", ["sid=a; size=1", "sid=b; size=2"], ["sid"], ["sid", "size"]],
    ["the last one", ["_ga=1", "_ga=2"], ["_ga"], ["_ga"]],
    ["the last one, if all have it alike", ["_ga=1; a=1", "_ga=2; a=1"], [], ["a"]],
    ["none", [], [], []],
  ])("%s", (_name, cookies, ofStrangers, wanted) => {
    const identities = cookies.map((cookie, index) => ({ name: `n${index}`, credentials: { cookie }, canaries: [] }));
    expect(cookieNames(identities, ofStrangers)).toEqual(wanted);
  });
});

describe("pages are read", () => {
  const site = { edge: new URL("https://edge.example.net"), host: "www.example.com" };
  const pathsOf = (...lines: readonly string[]) =>
    readTargets(
      lines.map((text) => ({ text, place: "here" })),
      site,
    ).map(({ method, path }) => `${method} ${path}`);

  test.each([
    ["/a?b=c#d", "GET /a?b=c"],
    ["  /a b/ü  ", "GET /a%20b/%C3%BC"],
    ["HEAD /a", "HEAD /a"],
    ["https://edge.example.net/a", "GET /a"],
    ["https://www.example.com/a?b", "GET /a?b"],
    ["/a//b/../c%2F", "GET /a//b/../c%2F"],
  ])("%s", (line, target) => {
    expect(pathsOf(line)).toEqual([target]);
  });

  test("each once, without comments and empty lines", () => {
    expect(pathsOf("# all", "/a", "", "/a", "HEAD /a")).toEqual(["GET /a", "HEAD /a"]);
  });

  test.each([
    "http://www.example.com/a",
    "https://example.org/",
    "https://a:b@www.example.com/",
    "ftp://www.example.com/",
    "DELETE /a",
    "get /a",
    "a",
  ])("not %s", (line) => {
    expect(() => pathsOf(line)).toThrow(/^here/);
  });

  test("not with control characters", () => {
    expect(() => pathsOf("/a\u0000b")).toThrow("here: a URL cannot have control characters");
  });

  test("pages that end sessions are recognized", () => {
    const paths = [
      ...["/logout", "/log-out/", "/abmelden", "/logout;jsessionid=A1", "/user/sign_out?next=/"],
      ...["/wp-login.php?action=logout", "/index.php?logout=1", "/?customer-logout=true"],
    ];
    expect(paths.filter((path) => !endsSession({ method: "GET", path }))).toEqual([]);
    const others = ["/", "/login", "/logouts-explained", "/blog/signoutside"];
    expect(others.filter((path) => endsSession({ method: "GET", path }))).toEqual([]);
  });
});

describe("text is read in the charset", () => {
  const name = "Алиса";
  const inWindows1251 = Buffer.from([0xc0, 0xeb, 0xe8, 0xf1, 0xe0]);
  const inUtf16 = Buffer.from(name, "utf16le");
  const page = (before: string, bytes: Buffer = inWindows1251) => Buffer.concat([Buffer.from(before, "latin1"), bytes]);

  test.each([
    ["of Content-Type", page(""), "text/html; charset=windows-1251"],
    ["of Content-Type in quotation marks", page(""), 'text/html;Charset="CP1251"; a=b'],
    ["of Content-Type rather than of the document", page('<meta charset="utf-8">'), "text/html; charset=windows-1251"],
    ["of a meta element", page('<meta charset="windows-1251">'), "text/html"],
    ["of a meta element like a field", page('<meta content="text/html; charset=windows-1251">'), ""],
    ["of an XML declaration", page("<?xml version='1.0' encoding='windows-1251'?>"), "text/xml"],
    ["of a byte order mark", page("\xff\xfe", inUtf16), "text/html; charset=utf-8"],
    ["of a byte order mark, big-endian", page("\xfe\xff", Buffer.from(inUtf16).swap16()), ""],
    ["UTF-8, if none is named", page("", Buffer.from(name)), "text/html"],
    ["UTF-8, if the name is unknown", page("", Buffer.from(name)), "text/html; charset=none"],
    ["UTF-8, if a document that is read says UTF-16", page("<meta charset=utf-16>", Buffer.from(name)), "text/html"],
  ])("%s", (_whence, body, contentType) => {
    expect(textOf(body, contentType).replace(/^<.*>/, "")).toBe(name);
  });
});

describe("a request gets its buster and inputs", () => {
  test("beside the parameters that are there, in place of one with the same name", () => {
    expect(withParameter("/a", "b", "1")).toBe("/a?b=1");
    expect(withParameter("/a?x=%2F&y", "b", "1")).toBe("/a?x=%2F&y&b=1");
    expect(withParameter("/a?b=0&x=1", "b", "1")).toBe("/a?x=1&b=1");
  });

  test("by kind", () => {
    const inputs = [
      { kind: "parameter", name: "page", value: "3" },
      { kind: "field", name: "x-shop", value: "b" },
      { kind: "cookie", name: "lang", value: "de" },
    ] as const;
    expect(applyInputs("/a?page=2", { cookie: "id=1" }, inputs)).toEqual({
      path: "/a?page=3",
      fields: { cookie: "id=1; lang=de", "x-shop": "b" },
    });
    expect(changedParameter(["page", "2"]).value).toBe("3");
    expect(changedParameter(["q", "shoes"]).value).toBe("shoesx");
  });
});

/** A body that ends when its reader leaves. */
function writeOn(response: ServerResponse): void {
  const piece = Buffer.alloc(1024 ** 2);
  const write = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", write);
  write();
}

describe("the prober", () => {
  const got: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    got.push(request);
    if (request.url!.startsWith("/over")) return void request.socket.destroy();
    if (request.url!.startsWith("/endless")) return writeOn(response);
    const body = `page ${request.url!.match(/buster=(\w+)/)?.[1]}`;
    const coding = request.url!.startsWith("/gzip") ? "gzip" : request.url!.startsWith("/br") ? "br" : undefined;
    const encoded = coding === "gzip" ? gzipSync(body) : coding === "br" ? brotliCompressSync(body) : body;
    response.writeHead(200, [
      ...(coding ? ["Content-Encoding", coding] : []),
      ...["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Url", request.url!],
    ]);
    response.end(encoded);
  });
  let prober: Prober;

  beforeAll(async () => {
    await listenLocally(server);
    prober = new Prober({
      edge: new URL(localUrl(server)),
      host: "www.example.com",
      buster: "buster",
      identities: [{ name: "alice", credentials: { cookie: "sessionid=abc" }, canaries: [] }],
      hitFields: [],
      perSecond: 1000,
      timeoutMs: 10_000,
    });
  });
  afterAll(async () => {
    prober.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const ask = (path: string, who = "stranger") => prober.ask({ method: "GET", path }, who, "0123456789abcdef", []);

  test("sends the public host, and credentials only for their visitor", async () => {
    await ask("/a");
    await ask("/a", "alice");
    const [stranger, alice] = got.slice(-2);
    expect(stranger!.headers).toMatchObject({ host: "www.example.com" });
    expect(stranger!.headers.cookie).toBeUndefined();
    expect(alice!.headers.cookie).toBe("sessionid=abc");
  });

  test("compares pages without their coding and without the buster that they repeat", async () => {
    const answers = [await ask("/plain"), await ask("/gzip"), await ask("/br")];
    expect(answers.map(({ text }) => text)).toEqual(["page BUSTER", "page BUSTER", "page BUSTER"]);
    expect(new Set(answers.map(({ digest }) => digest)).size).toBe(1);
    expect(answers[0]!.fields).toMatchObject({ "set-cookie": ["a=1", "b=2"], "x-url": ["/plain?buster=BUSTER"] });
  });

  test("reads 64 MiB of a page that never ends, and no more", async () => {
    const { bytes } = await ask("/endless");
    expect(bytes).toBeGreaterThan(60 * 1024 ** 2);
    expect(bytes).toBeLessThanOrEqual(64 * 1024 ** 2);
  });

  test("refuses other methods", async () => {
    const before = got.length;
    const asked = prober.ask({ method: "POST" as "GET", path: "/a" }, "alice", "0123456789abcdef", []);
    await expect(asked).rejects.toThrow("only GET and HEAD");
    expect(got.length).toBe(before);
  });

  test("tries a closed connection once more, and then says why there is no answer", async () => {
    await ask("/a");
    const before = got.length;
    await expect(ask("/over")).rejects.toMatchObject({
      name: "NoAnswerError",
      message: "the connection was closed",
    });
    expect(got.length - before).toBe(2);
  });
});
