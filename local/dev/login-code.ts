import { LOGIN_CODE_USED } from "./request-log-entry.ts";

/** The path to which the dashboard sends the code of the link that logs in. */
export const LOGIN_PATH = "/_tidemark/dev/login";

/** Exchanges the code for the token: once, and only on this machine. */
export class LoginCode {
  #isUsed = false;

  /**
   * `Host` must name the loopback interface. Any other name that leads here belongs to a page elsewhere (DNS
   * rebinding), or to a tunnel through which others reach this edge.
   */
  async exchange(request: Request, code: string | null, token: string | undefined): Promise<Response> {
    const { hostname } = new URL(request.url);
    if (!/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) {
      return refused("This link works only at localhost.");
    }
    const given = request.method === "POST" ? await request.text() : "";
    if (this.#isUsed || code === null || given !== code) {
      return refused("This link was used already. The terminal shows the token; a restart prints a new link.");
    }
    this.#isUsed = true;
    console.log(LOGIN_CODE_USED);
    return Response.json({ token }, { headers: NOT_STORED });
  }
}

const NOT_STORED = { "cache-control": "no-store" };

function refused(detail: string): Response {
  return Response.json({ title: "This link no longer logs in", detail }, { status: 403, headers: NOT_STORED });
}
