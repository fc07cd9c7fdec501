import { html } from "hono/html";
import type { Html } from "./layout.ts";

/** Links to the previous and the next page. `path` leads to page 1; for the others `page=` is added. */
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
