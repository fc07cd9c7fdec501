import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { immutableFields, publicFields } from "./cache-fields.ts";
import type { DemoContext } from "./context.ts";

/** The stylesheet, which the page on another origin uses as well. */
export const STYLESHEET = readFileSync(new URL("style.css", import.meta.url), "utf8");

/** The script of pages with commands. It is inline, so that a stored page is complete. */
export const COPY_BUTTON = readFileSync(new URL("copy-button.js", import.meta.url), "utf8");

const version = createHash("sha256").update(STYLESHEET).digest("hex").slice(0, 10);

/** The URL contains the version, so a stored copy is never outdated. */
export const STYLESHEET_PATH = `/style.css?v=${version}`;

/** `/style.css` */
export function stylesheet(context: DemoContext): Response {
  const caching =
    context.req.query("v") === version
      ? immutableFields("style")
      : publicFields({ edgeSeconds: 60, browserSeconds: 0, tags: ["style"] });
  return context.body(STYLESHEET, 200, { "content-type": "text/css; charset=utf-8", ...caching });
}

/** The files in `demo/images/`. The two covers have exactly 32 KiB and 100 KiB, so they can be used for measuring. */
const IMAGES = new Map(
  [
    { name: "cover-32k.jpg", type: "image/jpeg" },
    { name: "cover-100k.jpg", type: "image/jpeg" },
    { name: "mark.svg", type: "image/svg+xml" },
  ].map(({ name, type }) => [name, { type, bytes: readFileSync(new URL(`../images/${name}`, import.meta.url)) }]),
);

/** `/images/cover-32k.jpg` */
export function image(context: DemoContext): Response | Promise<Response> {
  const file = IMAGES.get(context.req.param("name") ?? "");
  if (file === undefined) return context.notFound();
  return context.body(file.bytes, 200, {
    "content-type": file.type,
    "x-content-type-options": "nosniff",
    ...immutableFields("images"),
  });
}
