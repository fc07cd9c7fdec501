import type { ClientAnswer } from "../../../engine/engine.ts";
import type { ClientRequest } from "../../../engine/scenario.ts";

/** Why the site stores nothing of an answer that is one visitor's, as `Cache-Status` says it. */
const OF_ONE_VISITOR = /detail=(cookie|authorization|set-cookie|session|private|no-store)\b/;

/**
 * Tells which hits of nginx the site does without on purpose: nginx stores the page of a visitor with cookies or credentials
 * for all, gives it to those with credentials (RFC 9111 §3.5), keeps it after a POST (§4.4), and with a key of `$uri` gives the
 * page of one path or spelling to those who ask for another.
 */
export class Safety {
  /** For each path and query: why the site does not have what nginx has. */
  readonly #without = new Map<string, string>();

  /** Why the site must not answer so from its store; `null` if it might. */
  whyForbidden({ path }: ClientRequest, own: ClientAnswer, byNginx: ClientAnswer): string | null {
    const asked = /^(?:\w+ )?(\/\S*) for </.exec(byNginx.body)?.[1];
    if (asked !== undefined && asked !== "/index.php" && pathOf(asked) !== pathOf(path))
      return "the page of another path";
    return ofOneVisitor(own) ?? this.#without.get(path) ?? this.#without.get(pathOf(path)) ?? null;
  }

  /** What both have done with a request. `byNginx` is the status of its cache. */
  saw({ method = "GET", path }: ClientRequest, own: ClientAnswer, byNginx: string): void {
    if (method === "POST") this.#without.set(pathOf(path), "a POST to the page since (RFC 9111 4.4)");
    else if (/; hit|; stored/.test(own.fields["cache-status"] ?? "")) {
      this.#without.delete(path);
      this.#without.delete(pathOf(path));
    } else if (byNginx !== "" && byNginx !== "HIT") {
      const reason = ofOneVisitor(own);
      if (reason !== null) this.#without.set(path, `${reason}, brought in before`);
    }
  }
}

function pathOf(target: string): string {
  return target.split("?")[0]!;
}

function ofOneVisitor({ fields }: ClientAnswer): string | null {
  const detail = OF_ONE_VISITOR.exec(fields["cache-status"] ?? "")?.[1];
  return detail === undefined ? null : `an answer for one visitor (${detail})`;
}
