import * as z from "zod";
import { type Html, html } from "../html.ts";
import { BadRequest } from "../router.ts";

const pageNumber = z
  .string()
  .regex(/^[1-9][0-9]{0,5}$/)
  .transform(Number);

/** The number in `?page=`, 1 without one. Throws `BadRequest` for anything that is not a page number. */
export function pageAsked(query: URLSearchParams): number {
  const asked = query.get("page");
  if (asked === null) return 1;
  const number = pageNumber.safeParse(asked);
  if (!number.success) throw new BadRequest(400, "A page number is a whole number, like 2.");
  return number.data;
}

/** Links to the pages before and after. `path` leads to page 1; the others get `page=` added. */
export function pager(path: string, current: number, pages: number): Html | undefined {
  if (pages <= 1) return undefined;
  const link = (to: number): string => {
    if (to === 1) return path;
    return `${path}${path.includes("?") ? "&" : "?"}page=${to}`;
  };
  return html`<nav class="pager" aria-label="Pages">
${current > 1 ? html`<a rel="prev" href="${link(current - 1)}">← Previous</a>` : html`<span></span>`}
<span>Page ${current} of ${pages}</span>
${current < pages ? html`<a rel="next" href="${link(current + 1)}">Next →</a>` : html`<span></span>`}
</nav>`;
}
