import { CONTROL_PREFIX } from "#tidemark/internal";
import { combinedParser } from "./combined-line.ts";
import { FIELDS_DIRECTIVE, fieldsParser } from "./fields-line.ts";
import { haproxyParser } from "./haproxy-line.ts";
import { jsonParser } from "./json-line.ts";
import { loadBalancerParser } from "./load-balancer-line.ts";
import type { LineKind, LineParser, LoggedRequest } from "./logged-request.ts";
import { proxyManagerParser } from "./proxy-manager-line.ts";

const HASH = 35;
const BRACE = 123;

/** A larger size is a mistake of the log: 1 TiB. */
const MAX_BODY_BYTES = 2 ** 40;

/** Reads the lines of one file. Each line shows its own format, and a line `#Fields:` names those that follow. */
export class LineReader {
  /** The formats whose lines cannot be recognized by their beginning. Each is tried if those before it do not match. */
  readonly #texts: readonly LineParser[] = [
    proxyManagerParser(),
    combinedParser(),
    loadBalancerParser(),
    haproxyParser(),
  ];
  readonly #json: LineParser = jsonParser((line, into) => this.#readLine(line, into));
  #fields: LineParser | null = null;

  /** Calls of Tidemark's control plane are no requests for pages, so their lines say nothing. */
  read(line: string, into: LoggedRequest): LineKind {
    const kind = this.#readLine(line, into);
    into.bytes = into.bytes > 0 && into.bytes <= MAX_BODY_BYTES ? Math.floor(into.bytes) : 0;
    return kind === "request" && into.target.startsWith(CONTROL_PREFIX) ? "nothing" : kind;
  }

  #readLine(line: string, into: LoggedRequest): LineKind {
    into.clear();
    const code = line.charCodeAt(0);
    if (Number.isNaN(code)) return "nothing";
    if (code === HASH) {
      if (line.startsWith(FIELDS_DIRECTIVE)) this.#fields = fieldsParser(line);
      return "nothing";
    }
    if (code === BRACE) return this.#json(line, into);
    return this.#fields === null ? this.#readText(line, into) : this.#fields(line, into);
  }

  #readText(line: string, into: LoggedRequest): LineKind {
    for (const parse of this.#texts) {
      const kind = parse(line, into);
      if (kind !== "broken") return kind;
      into.clear();
    }
    // Docker, Kubernetes and syslog write names and times in front.
    const brace = line.indexOf("{");
    return brace < 0 ? "broken" : this.#json(line.slice(brace), into);
  }
}
