import { combinedParser } from "./combined-line.ts";
import { FIELDS_DIRECTIVE, fieldsParser } from "./fields-line.ts";
import { jsonParser } from "./json-line.ts";
import type { LineParser, LoggedRequest } from "./logged-request.ts";

const HASH = 35;
const BRACE = 123;

/** The result of reading a line. A comment or an empty line says nothing. */
export type LineKind = "request" | "broken" | "nothing";

/** Reads the lines of one file. Each line shows its own format, and a line `#Fields:` names those that follow. */
export class LineReader {
  readonly #combined: LineParser = combinedParser();
  readonly #json: LineParser = jsonParser();
  #fields: LineParser | null = null;

  read(line: string, into: LoggedRequest): LineKind {
    into.clear();
    const code = line.charCodeAt(0);
    if (Number.isNaN(code)) return "nothing";
    if (code === HASH) {
      if (line.startsWith(FIELDS_DIRECTIVE)) this.#fields = fieldsParser(line);
      return "nothing";
    }
    const parse = code === BRACE ? this.#json : (this.#fields ?? this.#combined);
    return parse(line, into) ? "request" : "broken";
  }
}
