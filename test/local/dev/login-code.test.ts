import { describe, expect, test, vi } from "vitest";
import { LoginCode } from "../../../local/dev/login-code.ts";
import { LOGIN_CODE_USED } from "../../../local/dev/request-log-entry.ts";

const CODE = "a-code-of-the-link";
const TOKEN = "a-token";

function request(code: string, host = "localhost:8787", method = "POST"): Request {
  return new Request(`http://${host}/_tidemark/dev/login`, { method, ...(method === "POST" && { body: code }) });
}

describe("the code of the link that logs in", () => {
  test("is exchanged for the token once, and the terminal says so", async () => {
    const line = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const codes = new LoginCode();
    const first = await codes.exchange(request(CODE), CODE, TOKEN);
    expect([first.status, first.headers.get("cache-control"), await first.json()]).toEqual([
      200,
      "no-store",
      { token: TOKEN },
    ]);
    expect(line.mock.calls).toEqual([[LOGIN_CODE_USED]]);
    line.mockRestore();
    const second = await codes.exchange(request(CODE), CODE, TOKEN);
    expect([second.status, await second.text()]).toEqual([403, expect.not.stringContaining(TOKEN)]);
  });

  test.each([
    ["another code", request("guess"), CODE],
    ["no code", request(""), CODE],
    ["a GET", request("", "localhost:8787", "GET"), CODE],
    ["the word null, where there is no code", request("null"), null],
    ["nothing, where there is no code", request(""), null],
    ["the name of another site that leads here", request(CODE, "evil.example:8787"), CODE],
    ["a name that only looks like this machine", request(CODE, "localhost.evil.example"), CODE],
    ["a tunnel", request(CODE, "a1b2.tunnel.example"), CODE],
    ["an address of the network", request(CODE, "192.168.0.7:8787"), CODE],
  ])("does not log in with %s, and stays valid", async (_, wrong, code) => {
    const line = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const codes = new LoginCode();
    expect((await codes.exchange(wrong, code, TOKEN)).status).toBe(403);
    expect((await codes.exchange(request(CODE), CODE, TOKEN)).status).toBe(200);
    line.mockRestore();
  });

  test.each(["localhost:8787", "127.0.0.1:8787", "[::1]:8787"])("works at %s", async (host) => {
    const line = vi.spyOn(console, "log").mockImplementation(() => undefined);
    expect((await new LoginCode().exchange(request(CODE, host), CODE, TOKEN)).status).toBe(200);
    line.mockRestore();
  });
});
