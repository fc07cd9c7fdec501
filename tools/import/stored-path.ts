import type { ImportedSite } from "./imported-site.ts";

/** Paths of pages and files that many sites have. */
const USUAL = ["/hello", "/hello.css", "/hello.js", "/hello.png", "/hello.jpg", "/hello.html", "/index.php"];

/** A path whose page the site stores, to try it; `null` if none is known. */
export function storedPath({ routes }: ImportedSite): string | null {
  const rules = routes.map(({ value }) => value);
  // The last patterns are the widest.
  const named = rules.toReversed().flatMap(({ match, pass }) => {
    const [, start, more] = /^([\w/.~-]+)(\*?)$/.exec(match) ?? [];
    return pass || start === undefined ? [] : [more === "" ? start : `${start}hello`];
  });
  // Before version 24, Node has no URLPattern to ask.
  if (!("test" in URLPattern.prototype)) return named[0] ?? null;
  const routeOf = (path: string) =>
    rules.find(({ match }) => new URLPattern({ pathname: match }).test({ pathname: path }));
  return [...named, ...USUAL].find((path) => routeOf(path)?.pass !== true) ?? null;
}
