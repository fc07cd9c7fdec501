import type { Answer } from "../answer.ts";
import { redirect } from "../answer.ts";
import { PRIVATE_FIELDS } from "../cache-fields.ts";
import { sorry } from "../pages/sorry.ts";
import type { DemoRequest, Route } from "../router.ts";
import type { Site } from "../site.ts";
import { logIn, loginPage, logOut, toLogin } from "./login.ts";
import { adminPosts, deletePost, editPost, retryPurge, savePost } from "./posts.ts";
import { isCsrfToken, type Session, Sessions } from "./session.ts";

/** The admin area: `/admin/…`. Everything in it is for one person. */
export function adminRoutes(site: Site): Route[] {
  const sessions = new Sessions();

  const viewing =
    (view: (session: Session, request: DemoRequest) => Answer): Route["handle"] =>
    (request) => {
      const session = sessions.find(request.fields.cookie);
      return session === undefined ? toLogin(request) : view(session, request);
    };

  const changing =
    (change: (session: Session, request: DemoRequest, form: URLSearchParams) => Answer | Promise<Answer>) =>
    async (request: DemoRequest): Promise<Answer> => {
      const session = sessions.find(request.fields.cookie);
      if (session === undefined) return toLogin(request);
      const form = await request.form();
      return isCsrfToken(session, form.get("csrf")) ? change(session, request, form) : forgedForm(site, request);
    };

  return [
    { method: "GET", path: "/admin", handle: () => redirect(308, "/admin/", PRIVATE_FIELDS) },
    { method: "GET", path: "/admin/login", handle: (request) => loginPage(site, request) },
    {
      method: "POST",
      path: "/admin/login",
      handle: (request) => (fromOtherSite(request) ? forgedForm(site, request) : logIn(site, sessions, request)),
    },
    {
      method: "POST",
      path: "/admin/logout",
      handle: changing((session, request) => logOut(sessions, session, request)),
    },
    { method: "GET", path: "/admin/", handle: viewing((session, request) => adminPosts(site, session, request)) },
    {
      method: "GET",
      path: "/admin/posts/:slug",
      handle: viewing((session, request) => editPost(site, session, request)),
    },
    {
      method: "POST",
      path: "/admin/posts/:slug",
      handle: changing((session, request, form) => savePost(site, session, request, form)),
    },
    {
      method: "POST",
      path: "/admin/posts/:slug/delete",
      handle: changing((session, request) => deletePost(site, session, request)),
    },
    {
      method: "POST",
      path: "/admin/purges/:id",
      handle: changing((session, request) => retryPurge(site, session, request)),
    },
  ];
}

/** Before there is a session there is no token to check; browsers say where a form came from. */
function fromOtherSite(request: DemoRequest): boolean {
  const site = request.fields["sec-fetch-site"];
  return site === "cross-site" || site === "same-site";
}

function forgedForm(site: Site, request: DemoRequest): Answer {
  return sorry(site, request, 403, PRIVATE_FIELDS, {
    title: "This form is not from here, or is too old",
    text: "Nothing was changed. Go back, load the page again, and send the form once more.",
  });
}
