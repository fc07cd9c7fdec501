import type { DemoOrigin } from "../../demo/origin.ts";
import { DEMO_PASSWORD, DEMO_USER } from "../../demo/site/admin/login.ts";

/** An editor in the admin area, over HTTP, with the cookies and form tokens that a browser would send. */
export interface Editor {
  /** Gets the page at that path, logged in. */
  view(path: string): Promise<{ status: number; text: string; fields: Headers }>;
  /** Sends a form with the session's token, and follows no redirect. */
  send(path: string, form?: Record<string, string>): Promise<Response>;
}

export async function logIn(origin: Pick<DemoOrigin, "url">): Promise<Editor> {
  const response = await sendForm(origin, "/admin/login", "", { user: DEMO_USER, password: DEMO_PASSWORD });
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const view = async (path: string) => {
    const page = await fetch(origin.url + path, { headers: { cookie }, redirect: "manual" });
    return { status: page.status, text: await page.text(), fields: page.headers };
  };
  const { text } = await view("/admin/");
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? "";
  return { view, send: (path, form = {}) => sendForm(origin, path, cookie, { csrf, ...form }) };
}

export function sendForm(
  origin: Pick<DemoOrigin, "url">,
  path: string,
  cookie: string,
  form: Record<string, string>,
): Promise<Response> {
  return fetch(origin.url + path, {
    method: "POST",
    headers: { cookie },
    body: new URLSearchParams(form),
    redirect: "manual",
  });
}
