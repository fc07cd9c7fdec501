import { html } from "hono/html";
import type { Html } from "./layout.ts";

const FORMAT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** A day, for people and for machines. `at` is in epoch milliseconds. */
export function day(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${FORMAT.format(at)}</time>`;
}
