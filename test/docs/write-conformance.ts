/** `npm run docs`: writes the pages that are generated. */
import { writeFileSync } from "node:fs";
import { conformancePage } from "./conformance-page.ts";

writeFileSync("docs/conformance.md", conformancePage());
