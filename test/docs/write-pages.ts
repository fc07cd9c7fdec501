/** `npm run docs`: writes the pages and the OpenAPI document that are generated. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { openApiDocument } from "../../worker/control/openapi.ts";
import { conformancePage } from "./conformance-page.ts";
import { writeCrawlPage } from "./crawl-runs.ts";
import { referencePages } from "./reference-pages.ts";
import { REPORT_PAGE, withRuns } from "./report-runs.ts";

writeFileSync("docs/conformance.md", conformancePage());
writeFileSync("worker/control/openapi.json", `${JSON.stringify(openApiDocument(), null, 2)}\n`);
mkdirSync("docs/reference", { recursive: true });
for (const { path, text } of referencePages()) writeFileSync(path, text);
writeFileSync(REPORT_PAGE, await withRuns(readFileSync(REPORT_PAGE, "utf8")));
await writeCrawlPage();
