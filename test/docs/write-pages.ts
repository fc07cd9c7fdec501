/** `npm run docs`: writes the pages and the OpenAPI document that are generated, and counts the mutants. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { PAGES_OF_RIVALS, readMeasured, withRivals } from "../../bench/rivals/page.ts";
import { openApiDocument } from "../../worker/control/openapi.ts";
import { raised, readCounts, writeCounts } from "../mutants/counts.ts";
import { mutants } from "../mutants/index.ts";
import { conformancePage } from "./conformance-page.ts";
import { drawnPictures } from "./pictures/written-pictures.ts";
import { referencePages } from "./reference-pages.ts";
import { SETTINGS_PAGE, settingsPage } from "./settings/settings-page.ts";
import { writeCrawlPage } from "./tools/crawl-runs.ts";
import { REPORT_PAGE, withRuns } from "./tools/report-runs.ts";
import { CACHE_STATUS_PAGE, cacheStatusPage } from "./written/cache-status-page.ts";
import { HTTP_API_PAGE, httpApiPage } from "./written/http-api-page.ts";
import { RULES_PAGE, rulesPage } from "./written/rules-page.ts";

writeFileSync("docs/conformance.md", conformancePage());
writeFileSync(SETTINGS_PAGE, settingsPage());
for (const page of PAGES_OF_RIVALS) writeFileSync(page, withRivals(readFileSync(page, "utf8"), readMeasured()));
writeCounts(raised(readCounts(), mutants));
writeFileSync("worker/control/openapi.json", `${JSON.stringify(openApiDocument(), null, 2)}\n`);
mkdirSync("docs/reference", { recursive: true });
writeFileSync(CACHE_STATUS_PAGE, cacheStatusPage());
writeFileSync(HTTP_API_PAGE, httpApiPage());
writeFileSync(RULES_PAGE, rulesPage());
for (const { path, svg } of drawnPictures()) writeFileSync(path, svg);
for (const { path, text } of referencePages()) writeFileSync(path, text);
writeFileSync(REPORT_PAGE, await withRuns(readFileSync(REPORT_PAGE, "utf8")));
await writeCrawlPage();
