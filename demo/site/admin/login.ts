import { html } from "hono/html";
import * as z from "zod";
import { PRIVATE_FIELDS } from "../cache-fields.ts";
import type { DemoContext } from "../context.ts";
import { page } from "../pages/layout.ts";

/** The only account. It stands on the login page, because this is a demo. */
export const DEMO_USER = "editor";
export const DEMO_PASSWORD = "slack-water";

/** The pages to which a login may lead: only those of the admin area. */
const nextPage = z
  .string()
  .regex(/^\/admin\/[\w/-]*$/)
  .catch("/admin/");

/** The page to go to after the login, from the query or the form. */
export function pageAfterLogin(given: string | null | undefined): string {
  return nextPage.parse(given);
}

export function isRightLogin(form: URLSearchParams): boolean {
  return form.get("user") === DEMO_USER && form.get("password") === DEMO_PASSWORD;
}

export function loginPage(
  context: DemoContext,
  status: 200 | 401,
  next: string,
  complaint: string | undefined,
): Promise<Response> {
  return page(context, status, PRIVATE_FIELDS, {
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
