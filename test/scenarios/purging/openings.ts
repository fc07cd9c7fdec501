import { page } from "../page.ts";

export const v1 = page("max-age=3600", "v1", { etag: '"1"' });

export const control = "docs/reference/http-api.md#purge";
