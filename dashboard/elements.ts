/** An element's child. Text stays text: nothing on this page is parsed as markup. */
export type Child = Node | string | false | null | undefined;

type Attributes = Readonly<Record<string, string | number | boolean | null | ((event: Event) => void)>>;

/**
 * Makes an element, with attributes if the next argument has some. A function listens to the event in its name; `false`
 * and `null` omit an attribute.
 */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  ...rest: readonly (Attributes | Child)[]
): HTMLElementTagNameMap[Name] {
  return filled(document.createElement(name), rest);
}

/** The same for a drawing. */
export function drawn<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  ...rest: readonly (Attributes | Child)[]
): SVGElementTagNameMap[Name] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), rest);
}

function filled<E extends Element>(element: E, rest: readonly (Attributes | Child)[]): E {
  for (const each of rest) {
    if (!each) continue;
    if (typeof each === "string" || each instanceof Node) {
      element.append(each);
      continue;
    }
    for (const [name, value] of Object.entries(each)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  return element;
}

/** A name with its meaning below. */
export function named(name: string, words: string): HTMLElement {
  return h("span", name, words !== "" && h("small", words));
}

/** An element of `index.html`. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

/**
 * Replaces what an element of `index.html` holds, unless it looks the same. What has a `data-key` stays focused, and as far
 * scrolled as it was.
 */
export function fill(id: string, ...children: readonly Child[]): void {
  const place = byId(id);
  const next = filled(place.cloneNode() as HTMLElement, children);
  if (next.isEqualNode(place)) return;
  const focused = document.activeElement;
  const before = [...place.querySelectorAll<HTMLElement>("[data-key]")].map((old) => [old, old.scrollLeft] as const);
  place.replaceChildren(...next.childNodes);
  for (const [old, left] of before) {
    const now = place.querySelector<HTMLElement>(`[data-key="${CSS.escape(old.dataset.key!)}"]`);
    now?.scrollTo(left, 0);
    if (old === focused) now?.focus({ preventScroll: true });
  }
}

/** Announces a change to users of screen readers. */
export function say(text: string): void {
  byId("said").textContent = text;
}

/** A set of choices, one of which is selected. */
export function choices(
  id: string,
  names: Readonly<Record<string, string>>,
  chosen: string,
  choose: (name: string) => void,
): void {
  byId(id).append(
    ...Object.entries(names).map(([value, words]) =>
      h(
        "label",
        h("input", { type: "radio", name: id, value, checked: value === chosen, change: () => choose(value) }),
        words,
      ),
    ),
  );
}

/** A table whose first column names its rows. Columns whose names end in a space hold numbers. */
export function table(caption: string, columns: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const isNumber = (index: number) => columns[index]?.endsWith(" ") && "n";
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption, "data-key": caption },
    h(
      "table",
      h(
        "thead",
        h("tr", ...columns.map((name, index) => h("th", { scope: "col", class: isNumber(index) || null }, name))),
      ),
      h(
        "tbody",
        ...rows.map((cells) =>
          h(
            "tr",
            ...cells.map((cell, index) =>
              index === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: isNumber(index) || null }, cell),
            ),
          ),
        ),
      ),
    ),
  );
}
