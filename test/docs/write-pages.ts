/** `npm run docs`: writes the pages and the OpenAPI document that are generated. */
import { mkdirSync, writeFileSync } from "node:fs";
import { openApiDocument } from "../../worker/control/openapi.ts";
import { conformancePage } from "./conformance-page.ts";
import { referencePages } from "./reference-pages.ts";

writeFileSync("docs/conformance.md", conformancePage());
writeFileSync("worker/control/openapi.json", `${JSON.stringify(openApiDocument(), null, 2)}\n`);
mkdirSync("docs/reference", { recursive: true });
for (const { path, text } of referencePages()) writeFileSync(path, text);
