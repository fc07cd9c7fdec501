/** Text that is HTML already. Only `html` makes it, so that everything else gets escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: `undefined` and `false` are nothing, a list is its items one after another. */
export type HtmlValue = string | number | Html | undefined | false | readonly HtmlValue[];

/** html`<p>${text}</p>` escapes what is put in, unless it is HTML already. Attribute values have to stand in quotes. */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(literals.map((literal, index) => literal + toText(values[index])).join(""));
}

/** For the text of XML and for attribute values, in HTML and XML alike. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

function toText(value: HtmlValue): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(toText).join("");
  return escapeMarkup(String(value));
}
