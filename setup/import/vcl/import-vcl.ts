import type { ImportedSite } from "../imported-site.ts";
import { ImportError } from "../imported-site.ts";
import type { ImportOptions } from "../nginx/import-nginx.ts";

export function importVcl(file: string, _text: string, _options: ImportOptions): ImportedSite {
  throw new ImportError(`${file}: VCL cannot be imported yet`);
}
