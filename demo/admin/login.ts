import * as z from "zod";
import { type Answer, redirect } from "../answer.ts";
import { PRIVATE_FIELDS } from "../cache-fields.ts";
import { html } from "../html.ts";
import { page } from "../pages/layout.ts";
import type { DemoRequest } from "../router.ts";
import type { Site } from "../site.ts";
import { DEMO_PASSWORD, DEMO_USER } from "./credentials.ts";
import { endedSessionCookie, type Session, type Sessions, sessionCookie } from "./session.ts";

/** Where to go after the login: a page of the admin area, nothing else. */
const nextPage = z
  .string()
  .regex(/^\/admin\/[\w/-]*$/)
  .catch("/admin/");

export function loginPage(site: Site, request: DemoRequest): Answer {
  return loginForm(site, request, 200, nextPage.parse(request.url.searchParams.get("next")), undefined);
}

export async function logIn(site: Site, sessions: Sessions, request: DemoRequest): Promise<Answer> {
  const form = await request.form();
  const next = nextPage.parse(form.get("next"));
  if (form.get("user") !== DEMO_USER || form.get("password") !== DEMO_PASSWORD) {
    return loginForm(site, request, 401, next, "That is not the right name and password. They stand below.");
  }
  return redirect(303, next, { ...PRIVATE_FIELDS, "set-cookie": sessionCookie(sessions.start(), request.publicUrl) });
}

export function logOut(sessions: Sessions, session: Session, request: DemoRequest): Answer {
  sessions.end(session);
  return redirect(303, "/", { ...PRIVATE_FIELDS, "set-cookie": endedSessionCookie(request.publicUrl) });
}

/** Sends whoever is not logged in to the login, and from there back to where they wanted to go. */
export function toLogin(request: DemoRequest): Answer {
  const next = nextPage.parse(request.url.pathname);
  return redirect(303, `/admin/login?next=${encodeURIComponent(next)}`, PRIVATE_FIELDS);
}

function loginForm(
  site: Site,
  request: DemoRequest,
  status: 200 | 401,
  next: string,
  complaint: string | undefined,
): Answer {
  return page(site, request, status, PRIVATE_FIELDS, {
    title: "Log in",
    section: "admin",
    main: html`<form class="sheet narrow" method="post" action="/admin/login">
<h1>Log in</h1>
${complaint !== undefined && html`<p class="note bad" role="alert">${complaint}</p>`}
<input type="hidden" name="next" value="${next}">
<label for="user">Name</label>
<input id="user" name="user" autocomplete="username" autocapitalize="none" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Log in</button>
<p class="aside">This is a demo, so here they are: <samp>${DEMO_USER}</samp> and <samp>${DEMO_PASSWORD}</samp>.</p>
</form>`,
  });
}
