import type { Reply } from "../../../local/cdn/scripted-origin.ts";
import type { Step } from "../../engine/scenario.ts";
import { page } from "../page.ts";

/** One variant of a page. */
export function form(body: string, vary: string | readonly string[], more: Reply["fields"] = {}): Reply {
  return { fields: { "cache-control": "max-age=60", vary, ...more }, body };
}

export const plain: Reply = page("max-age=60", "plain");

export const inGerman = page("max-age=3600", "hallo", { vary: "accept-language", etag: '"de"' });

export const inEnglish = { fields: { ...inGerman.fields, etag: '"en"' }, body: "hello" };

/** A request with this language in `Accept-Language`. */
export function inLanguage(language: string, expect: object, isolate?: string): Step {
  const fields = { "accept-language": language };
  return { send: { path: "/a", fields, ...(isolate && { isolate }) }, expect };
}
