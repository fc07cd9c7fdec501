import type { Explanation } from "../wire/explanation.ts";
import { withField } from "../wire/fields.ts";
import { stepTexts } from "../wire/text/explanation-text.ts";
import { size } from "../wire/text/numbers.ts";
import { ask, Refused } from "./api.ts";
import { byId, type Child, h } from "./elements.ts";
import { readAgain } from "./pages.ts";
import { instant } from "./words.ts";

export function startExplain(): void {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    void explain();
  });
}

/** Explains a URL that a link names. */
export function explainUrl(url: string): void {
  byId<HTMLInputElement>("url").value = url;
  void explain();
}

async function explain(): Promise<void> {
  const request = {
    url: byId<HTMLInputElement>("url").value.trim(),
    method: byId<HTMLSelectElement>("method").value,
    fields: fieldsOf(byId<HTMLTextAreaElement>("fields").value),
  };
  // An answer to an earlier question finds its own place gone.
  const place = h("p");
  byId("explanation").replaceChildren(place);
  try {
    place.replaceWith(report(await ask<Explanation>("explain", request)));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 401) return readAgain(); // which asks for a token, unless a new session has begun
    place.replaceWith(h("p", { class: "note" }, h("pre", error.message)));
  }
}

function fieldsOf(text: string): Readonly<Record<string, string>> {
  const lines = [...text.matchAll(/^([^:\s]+):[ \t]*(.*?)[ \t]*$/gm)];
  return lines.reduce((fields, [, name, value]) => withField(fields, name!, value!), {});
}

function report(explanation: Explanation): HTMLElement {
  const { outcome, key, dropped, memory, sharedTier, purge, nearest, worker } = explanation;
  const row = (name: string, ...children: Child[]) => [h("dt", name), h("dd", ...children)];
  const tags = memory?.tags ?? sharedTier?.tags ?? [];
  return h(
    "div",
    h(
      "p",
      { class: "outcome" },
      outcome.xCache ?? "answered by the edge",
      outcome.detail && h("span", { class: "soft" }, `  ${outcome.detail}`),
    ),
    h("ol", ...stepTexts(explanation).map((text) => h("li", text))),
    h(
      "dl",
      ...(key === null ? [] : row("Key", h("code", key))),
      ...(dropped.length === 0 ? [] : row("Dropped", h("code", dropped.join(", ")))),
      ...(worker === undefined ? [] : row("Worker", worker)),
      ...row("Memory", stored(memory)),
      ...row("Cache of the PoP", stored(sharedTier)),
      ...(tags.length === 0 ? [] : row("Tags", h("code", tags.join("  ")))),
      ...(purge ? row("Purge", purgeText(purge)) : []),
      ...nearest.flatMap(({ key: other, differsIn }) =>
        row("Nearest", h("code", ...underlined(other, differsIn)), h("br"), `differs in: ${differsIn.join(", ")}`),
      ),
    ),
  );
}

function stored(held: Explanation["memory"]): string {
  if (!held) return "nothing for this request";
  const { status, bodyBytes, since, ageSeconds, freshForSeconds, selectedBy } = held;
  const freshness = freshForSeconds > 0 ? `fresh for ${freshForSeconds} s more` : `stale for ${-freshForSeconds} s`;
  const choice = selectedBy.length === 0 ? "" : `, selected by ${selectedBy.join(", ")}`;
  return `${status}, ${size(bodyBytes)}, since ${instant(since)}, age ${ageSeconds} s, ${freshness}${choice}`;
}

function purgeText({ seq, made, record }: NonNullable<Explanation["purge"]>): string {
  if (!record) return `${made} by purge ${seq}, which is not in the audit trail`;
  const { at, by, reason, items } = record;
  const why = reason === null ? "" : `, because: ${reason}`;
  return `${made} by purge ${seq} of ${items.slice(0, 3).join(", ")}, ${instant(at)}, by ${by}${why}`;
}

/** The key, with the differing parameters marked. */
function underlined(key: string, differsIn: readonly string[]): Child[] {
  const [url, query] = key.split(/\?(.*)/s, 2);
  if (query === undefined) return [key];
  return [
    url,
    ...query
      .split("&")
      .flatMap((text, index) => [
        index === 0 ? "?" : "&",
        differsIn.includes(`query ${text}`) ? h("mark", text) : text,
      ]),
  ];
}
