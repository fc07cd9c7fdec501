import { globSync, readFileSync } from "node:fs";
import { draw } from "./draw.ts";
import { readPicture } from "./picture.ts";

/** The pictures that are drawn from a text beside them, with their paths. */
export function drawnPictures(): { readonly path: string; readonly svg: string }[] {
  return globSync("docs/pictures/*.txt")
    .sort()
    .map((source) => ({ path: source.replace(/txt$/, "svg"), svg: draw(readPicture(readFileSync(source, "utf8"))) }));
}
