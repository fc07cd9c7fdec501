import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { TestProject, Vite } from "vitest/node";

const MARK = "packed:";

/**
 * What tests import from `tidemark/local` is what Node finds in the project that has the packed package installed:
 * neither the sources nor this repository's own `exports`.
 */
export function resolveInPackedProject(): Vite.Plugin {
  let project: TestProject;
  return {
    name: "resolve-in-packed-project",
    enforce: "pre",
    // An alias, because Vite leaves other names to Node, which finds this repository's last build, if there is one.
    config: () => ({ resolve: { alias: [{ find: /^(?=tidemark\/local(\/|$))/, replacement: MARK }] } }),
    configureVitest: (context) => {
      project = context.project;
    },
    resolveId(id) {
      if (!id.startsWith(MARK)) return null;
      const { packedProject } = project.getProvidedContext();
      const require = createRequire(join(packedProject, "a.test.ts"));
      const manifest = require.resolve("tidemark/package.json");
      const { exports } = require(manifest) as { exports: Record<string, { readonly import: string }> };
      return join(dirname(manifest), exports[id.slice(MARK.length).replace("tidemark", ".")]!.import);
    },
  };
}
