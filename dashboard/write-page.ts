/** `npm run dashboard`: builds the page of the dashboard into a module of the worker. */
import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { buildPage, moduleOf, PAGE_MODULE } from "./build-page.ts";

const built = await buildPage();
await writeFile(PAGE_MODULE, moduleOf(built));
console.log(`${PAGE_MODULE}: ${built.page.length} characters, ${gzipSync(built.page).byteLength} bytes gzipped`);
