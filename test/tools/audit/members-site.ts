import { createHash, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import { listenLocally } from "../../suite/local-url.ts";

/** A request that reached the origin. */
export interface OriginRequest {
  readonly method: string;
  readonly target: string;
  readonly cookie: string;
}

interface Page {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

interface Visit {
  /** The name of the member whose session it is; `null` for strangers. */
  readonly member: string | null;
  readonly url: URL;
  readonly field: (name: string) => string;
  readonly cookie: (name: string) => string | undefined;
}

/** A site with logins, whose sessions are like Django's. It keeps what each request asked for. */
export class MembersSite {
  readonly #server: Server;
  readonly #sessions = new Map<string, string>();
  readonly seen: OriginRequest[] = [];
  /** Who is let in from now on; the sessions of others have ended. */
  letsIn: (member: string) => boolean = () => true;

  constructor() {
    this.#server = createServer((request, response) => {
      const { method = "GET", url = "/", headers } = request;
      this.seen.push({ method, target: url, cookie: headers.cookie ?? "" });
      const cookies = new Map(
        (headers.cookie ?? "").split(/;\s*/).map((pair) => pair.split("=", 2) as [string, string]),
      );
      const name = this.#sessions.get(cookies.get("sessionid") ?? "") ?? null;
      const visit: Visit = {
        member: name !== null && this.letsIn(name) ? name : null,
        url: new URL(url, "http://origin.invalid"),
        field: (field) => String(headers[field] ?? ""),
        cookie: (each) => cookies.get(each),
      };
      const page = PAGES[visit.url.pathname]?.(visit) ?? { status: 404, body: "There is no such page." };
      response.writeHead(page.status ?? 200, { "content-type": "text/html; charset=utf-8", ...page.fields });
      response.end(page.body);
    });
  }

  /** The cookie of a new session. */
  logIn(member: string): string {
    const id = createHash("sha256").update(randomUUID()).digest("hex").slice(0, 32);
    this.#sessions.set(id, member);
    return `sessionid=${id}`;
  }

  async start(): Promise<URL> {
    return new URL(await listenLocally(this.#server));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** What changes with each rendering. */
function dynamic(): string {
  return `<!-- ${new Date().toISOString()} ${randomUUID()} --><script nonce="${randomUUID()}"></script>`;
}

function page(title: string, { member }: Visit, content = ""): string {
  const who =
    member === null ? `<a href="/login">Log in</a>` : `Hello ${member}, <a href="/settings">your settings</a>`;
  return `<!doctype html><title>${title}</title><link rel="stylesheet" href="/style.css">${who}<h1>${title}</h1>${content}${dynamic()}`;
}

const RUSSIAN_NAMES: Readonly<Record<string, string>> = { alice: "Алиса", bob: "Борис" };

/** Each letter of the Russian alphabet but one is a byte there, in the same order. */
function inWindows1251(text: string): Buffer {
  return Buffer.from(
    text.replace(/[А-я]/g, (letter) => String.fromCodePoint(letter.codePointAt(0)! - 0x350)),
    "latin1",
  );
}

/** More than the audit compares word by word. */
const MANY_WORDS = "lorem ipsum ".repeat(180_000);

const PAGES: Readonly<Record<string, (visit: Visit) => Page>> = {
  // Nothing but the session makes these pages another's, and nothing says so.
  "/": (visit) => ({ body: page("The club", visit) }),
  "/me.json": ({ member }) => ({
    status: member === null ? 401 : 200,
    fields: {
      "content-type": "application/json",
      ...(member !== null && { etag: `"profile-${member}"`, "x-account": `account-of-${member}` }),
    },
    body: JSON.stringify(member === null ? { error: "log in first" } : { email: `${member}@example.com` }),
  }),
  "/avatar.png": ({ member }) => ({
    fields: { "content-type": "image/png" },
    body: createHash("sha512")
      .update(member ?? "nobody")
      .digest(),
  }),
  "/form": (visit) => ({
    body: page("Write to us", visit, `<input type="hidden" name="csrfmiddlewaretoken" value="${randomUUID()}">`),
  }),
  "/russian": ({ member }) => ({
    fields: { "content-type": "text/html; charset=windows-1251" },
    body: inWindows1251(`${member === null ? "Войдите" : `Здравствуйте, ${RUSSIAN_NAMES[member]}`}${dynamic()}`),
  }),
  "/archive": (visit) => ({ body: page("Archive", visit, MANY_WORDS) }),
  "/export": (visit) => ({ fields: { "cache-control": "private" }, body: page("Export", visit, MANY_WORDS) }),
  // These say whom they are for.
  "/account": (visit) =>
    visit.member === null
      ? { status: 302, fields: { location: "/login", "cache-control": "private" }, body: "" }
      : { fields: { "cache-control": "private, max-age=60" }, body: page(`Account of ${visit.member}`, visit) },
  "/basket": (visit) => ({ fields: { "set-cookie": `basket=${randomUUID()}; Path=/` }, body: page("Basket", visit) }),
  "/hello": (visit) => ({
    fields: { vary: "Cookie", "cache-control": "max-age=60" },
    body: page("Hello", visit),
  }),
  // These are the same for everybody.
  "/news": (visit) => ({ body: `<h1>News</h1><p>As of ${visit.url.searchParams.get("page") ?? "1"}.</p>${dynamic()}` }),
  "/style.css": () => ({ fields: { "content-type": "text/css", "cache-control": "public, max-age=600" }, body: "a{}" }),
  "/bundle.js": () => ({ fields: { "content-type": "text/javascript" }, body: MANY_WORDS }),
  // These are the same for all visitors who send the same, but the origin does not say what they choose by.
  "/prices": ({ cookie }) => ({
    body: `<h1>Prices</h1><p>All in ${cookie("currency") === "EUR" ? "euros" : "dollars"}.</p>`,
  }),
  "/share": ({ field, url }) => ({
    body: `<h1>Share</h1><link rel="canonical" href="https://${field("x-forwarded-host") || "club.example"}${url.pathname}">`,
  }),
  "/catalogue": ({ field }) => ({ body: field("x-shop") === "b" ? "<h1>Shop b</h1>" : "<h1>All shops</h1>" }),
  "/canonical": ({ url }) =>
    url.search === "" ? { body: "One page." } : { status: 301, fields: { location: url.pathname }, body: "" },
  "/logout": ({ member }) => ({ body: member === null ? "You are not logged in." : "Goodbye." }),
};

/** They end sessions, take no parameters, or are long. */
const ODD_PATHS = ["/logout", "/canonical", "/archive", "/export", "/bundle.js"];

/** The usual pages of the site. */
export const PATHS = Object.keys(PAGES).filter((path) => !ODD_PATHS.includes(path));
