import { withoutEscapes } from "../key/without-escapes.ts";
import { speaksOfCredentials } from "./credential-names.ts";

/** A URL as it is shown to others, without the parameters of its query and its path that may be a visitor's secret. */
export function shownUrl(url: string): string {
  const [path = "", query] = url.split(/\?(.*)/s, 2);
  const shownPath = path.replace(/;[^;/]*/g, shownParameter);
  return query === undefined ? shownPath : `${shownPath}?${query.split("&").map(shownParameter).join("&")}`;
}

/** A parameter of a URL, without a value that may be secret. The value may be a URL with parameters of its own. */
export function shownParameter(parameter: string): string {
  const plain = withoutEscapes(parameter).toLowerCase();
  const isSecret = speaksOfCredentials(plain.slice(0, Math.max(0, plain.lastIndexOf("="))));
  return isSecret ? `${parameter.split(/=|%3d/i, 1)[0]}=…` : parameter;
}
