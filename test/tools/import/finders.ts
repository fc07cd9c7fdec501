import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type * as nginx from "../../../tools/import/nginx/import-nginx.ts";
import { ENTRIES } from "../../mutants/entries.ts";
import { exportsOf, findersOf } from "../../mutants/finder.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { type ImportCase, importCases } from "./import-cases.ts";

/** What `tidemark import` must make of servers, by the cases' names. */
export const importFinders = findersOf(
  ENTRIES.import,
  importCases.map((each) => [
    each.name,
    async (modules) => expect(routesOf(exportsOf(modules, ENTRIES.import) as typeof nginx, each)).toEqual(each.routes),
  ]),
);

/** What becomes of the paths of a case. */
export function routesOf(
  { importNginx }: Pick<typeof nginx, "importNginx">,
  { server, http = "", compares = "bypass", routes }: ImportCase,
): object {
  const folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-import-"));
  try {
    const file = join(folder, "nginx.conf");
    writeFileSync(file, `http {\n${http}\nserver {\nserver_name www.example.com;\n${server}\n}\n}\n`);
    const site = importNginx(file, { origin: null, host: null, server: null, root: null });
    const ruleOf = (pathname: string) => {
      const found = site.routes.find(({ value: { match } }) => new URLPattern({ pathname: match }).test({ pathname }));
      return found === undefined || found.value.pass ? null : (found.value[compares] ?? {});
    };
    return Object.fromEntries(Object.keys(routes).map((path) => [path, ruleOf(path)]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
