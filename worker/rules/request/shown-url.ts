import { withoutEscapes } from "../key/without-escapes.ts";
import { speaksOfCredentials } from "./credential-names.ts";

/** A URL as it is shown to others, without the parameters of its query and its path that may be a visitor's secret. */
export function shownUrl(url: string): string {
  const [path = "", query] = url.split(/\?(.*)/s, 2);
  const shownPath = path.replace(/(?:;|%(?:25)*3b)(?:(?!%(?:25)*3b)[^;/])*/gi, shownParameter);
  return query === undefined ? shownPath : `${shownPath}?${query.split("&").map(shownParameter).join("&")}`;
}

/** A parameter of a URL, without a value that may be secret. The value may be a URL with parameters of its own. */
export function shownParameter(parameter: string): string {
  const plain = decoded(parameter).toLowerCase();
  const isSecret = speaksOfCredentials(plain.slice(0, Math.max(0, plain.lastIndexOf("="))));
  return isSecret ? `${parameter.split(/=|%(?:25)*3d/i, 1)[0]}=…` : parameter;
}

/** How often a URL within a URL within a URL escapes its parameters. */
const ESCAPED_AT_MOST = 4;

function decoded(text: string, times = ESCAPED_AT_MOST): string {
  const plain = withoutEscapes(text);
  return plain === text || times === 1 ? plain : decoded(plain, times - 1);
}
