/** `npm run docs`: writes the pages that are generated. */
import { mkdirSync, writeFileSync } from "node:fs";
import { conformancePage } from "./conformance-page.ts";
import { referencePages } from "./reference-pages.ts";

writeFileSync("docs/conformance.md", conformancePage());
mkdirSync("docs/reference", { recursive: true });
for (const { path, text } of referencePages()) writeFileSync(path, text);
