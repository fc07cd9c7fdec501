import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Answer, strongEtag } from "./answer.ts";
import { immutableFields, publicFields } from "./cache-fields.ts";

export const STYLESHEET = readFileSync(new URL("style.css", import.meta.url), "utf8");

const version = createHash("sha256").update(STYLESHEET).digest("hex").slice(0, 10);

/** The version stands in the URL, so that a copy kept anywhere is never the wrong one. */
export const STYLESHEET_PATH = `/style.css?v=${version}`;

export function stylesheet(askedVersion: string | null): Answer {
  const caching =
    askedVersion === version
      ? immutableFields("style")
      : publicFields({ edgeSeconds: 60, browserSeconds: 0, tags: ["style"] });
  return {
    status: 200,
    fields: { "content-type": "text/css; charset=utf-8", etag: strongEtag(STYLESHEET), ...caching },
    body: STYLESHEET,
  };
}
