import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A block of code in a page that uses the purge client. */
export interface ClientBlock {
  /** Like `docs/purging.md, block 2`. */
  readonly name: string;
  readonly code: string;
}

/** The blocks of all pages that import the purge client or its entry for tests. */
export function clientBlocks(): ClientBlock[] {
  const pages = ["README.md", ...readdirSync("docs").map((file) => `docs/${file}`)].filter((path) =>
    path.endsWith(".md"),
  );
  return pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
      .map(([, code], index) => ({ name: `${page}, block ${index + 1}`, code: code! }))
      .filter(({ code }) => /from "tidemark(\/testing)?";/.test(code)),
  );
}

/** A folder in the project, in which blocks become modules that import the sources. */
export class BlockFolder implements Disposable {
  readonly path: string;

  constructor() {
    mkdirSync(".tidemark", { recursive: true });
    this.path = mkdtempSync(join(".tidemark", "blocks-"));
  }

  /** Writes a file, and returns its address. */
  write(name: string, code: string): string {
    const path = join(this.path, name);
    writeFileSync(
      path,
      code
        .replaceAll('from "tidemark"', 'from "../../sdk/index.ts"')
        .replaceAll('from "tidemark/testing"', 'from "../../sdk/testing.ts"')
        .replaceAll(/from "tidemark\/outbox\/(sqlite|pg)"/g, 'from "../../sdk/outbox/$1.ts"'),
    );
    return pathToFileURL(path).href;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}
