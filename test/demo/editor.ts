import { DEMO_PASSWORD, DEMO_USER } from "../../demo/admin/credentials.ts";
import type { DemoOrigin } from "../../demo/origin.ts";

/** What an editor does in the admin area, over HTTP, with the cookies and form tokens that a browser would bring. */
export interface Editor {
  /** The page at that path, as somebody who is logged in. */
  view(path: string): Promise<{ status: number; text: string; fields: Headers }>;
  /** Sends a form with the page's token and follows no redirect. */
  send(path: string, form?: Record<string, string>): Promise<Response>;
}

export async function logIn(origin: DemoOrigin): Promise<Editor> {
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
  origin: DemoOrigin,
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
