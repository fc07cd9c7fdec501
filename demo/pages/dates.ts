import { type Html, html } from "../html.ts";

const FORMAT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** A day for people and machines. `at` is epoch milliseconds. */
export function day(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${FORMAT.format(at)}</time>`;
}
