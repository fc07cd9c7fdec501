import { type Handler, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { PRIVATE_FIELDS } from "../cache-fields.ts";
import type { DemoContext, DemoEnv } from "../context.ts";
import { errorPage } from "../pages/error-page.ts";
import { redirect } from "../redirect.ts";
import { isRightLogin, loginPage, pageAfterLogin } from "./login.ts";
import { deletePost, editPost, listPosts, retryPurge, savePost } from "./posts.ts";
import { isCsrfToken, type Session, Sessions } from "./session.ts";

const MAX_FORM_BYTES = 128 * 1024;

type Answer = Response | Promise<Response>;

/** The admin area, `/admin/…`. It is for one person, so nothing of it may be stored. */
export function adminRoutes(): Hono<DemoEnv> {
  const sessions = new Sessions();

  /** Shows a page to an editor who is logged in. */
  const viewing =
    (view: (context: DemoContext, session: Session) => Answer): Handler<DemoEnv> =>
    (context) => {
      const session = sessions.find(context);
      return session === undefined ? toLogin(context) : view(context, session);
    };

  /** Makes a change for an editor who is logged in, if the form comes from a page of the same session. */
  const changing =
    (change: (context: DemoContext, session: Session, form: URLSearchParams) => Answer): Handler<DemoEnv> =>
    async (context) => {
      const session = sessions.find(context);
      if (session === undefined) return toLogin(context);
      const form = await readForm(context);
      return isCsrfToken(session, form.get("csrf")) ? change(context, session, form) : refuseForeignForm(context);
    };

  const admin = new Hono<DemoEnv>();
  admin.get("/admin", (context) => redirect(context, 308, "/admin/", PRIVATE_FIELDS));
  admin.get("/admin/login", (context) => loginPage(context, 200, pageAfterLogin(context.req.query("next")), undefined));
  admin.post("/admin/login", async (context) => {
    // There is no session yet, so there is no token to check. Browsers say where a form comes from.
    const formFrom = context.req.header("sec-fetch-site");
    if (formFrom === "cross-site" || formFrom === "same-site") return refuseForeignForm(context);
    const form = await readForm(context);
    const next = pageAfterLogin(form.get("next"));
    if (!isRightLogin(form)) {
      return loginPage(context, 401, next, "That is not the right name and password. Both stand below.");
    }
    sessions.start(context);
    return redirect(context, 303, next, PRIVATE_FIELDS);
  });
  const logOut = (context: DemoContext, session: Session) => {
    sessions.end(context, session);
    return redirect(context, 303, "/", PRIVATE_FIELDS);
  };
  admin.post("/admin/logout", changing(logOut));
  admin.get("/admin/", viewing(listPosts));
  admin.get("/admin/posts/:slug", viewing(editPost));
  admin.post("/admin/posts/:slug", changing(savePost));
  admin.post("/admin/posts/:slug/delete", changing(deletePost));
  admin.post("/admin/purges/:id", changing(retryPurge));
  return admin;
}

/** Sends a visitor without a session to the login, and from there back to the page. */
function toLogin(context: DemoContext): Response {
  const next = encodeURIComponent(pageAfterLogin(context.req.path));
  return redirect(context, 303, `/admin/login?next=${next}`, PRIVATE_FIELDS);
}

/**
 * Reads a form of at most 128 KiB. `hono/body-limit` cannot do this here: it makes a `Request` from that of
 * `@hono/node-server`, which works only where the globals are replaced (see `listen`).
 */
async function readForm(context: DemoContext): Promise<URLSearchParams> {
  const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new HTTPException(415, { message: "This address takes a form, as a browser sends it." });
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of context.req.raw.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_FORM_BYTES) throw new HTTPException(413, { message: "That is more text than a post can hold." });
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}

function refuseForeignForm(context: DemoContext): Promise<Response> {
  return errorPage(context, 403, PRIVATE_FIELDS, {
    title: "This form is not from here, or is too old",
    text: "Nothing was changed. Go back, load the page again, and send the form once more.",
  });
}
