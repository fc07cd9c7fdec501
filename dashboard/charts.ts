import { drawn, h } from "./elements.ts";

export interface Series {
  readonly name: string;
  /** The class of its colour. */
  readonly color: string;
  /** A value for each span; `undefined` if there is none. */
  readonly values: readonly (number | undefined)[];
  /** Its value for the whole time. */
  readonly total: string;
}

export interface Chart {
  readonly figure: HTMLElement;
  /** Shows the values of one span, or those of the whole time, and returns them in words. */
  show(index: number | null): string;
}

interface Drawing {
  readonly title: string;
  readonly series: readonly Series[];
  /** Bars are stacked. */
  readonly kind: "bars" | "lines";
  readonly format: (value: number | undefined) => string;
  /** The beginning and the end of the time. */
  readonly ends: readonly [string, string];
  /** Default: the highest value. */
  readonly top?: number;
}

/** A chart over time. `point` gets the span under the pointer, or `null`. */
export function chart(drawing: Drawing, point: (index: number | null) => void): Chart {
  const { title, series, kind, format, ends } = drawing;
  const spans = series[0]!.values.length;
  const sums = series[0]!.values.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const values = kind === "bars" ? sums : series.flatMap((each) => each.values.map((value) => value ?? 0));
  const top = drawing.top ?? Math.max(...values);
  const cursor = drawn("rect", { class: "cursor", width: 1, height: 100, visibility: "hidden" });
  const keys = series.map(({ color, total }) => h("b", { class: color }, total));
  const svg = drawn(
    "svg",
    { viewBox: `0 0 ${spans} 100`, preserveAspectRatio: "none", "aria-hidden": "true" },
    cursor,
    ...(kind === "bars" ? bars(series, top) : series.map((each) => line(each, top))),
  );
  const plot = h(
    "div",
    {
      class: "plot",
      pointermove: (event) => {
        const { left, width } = svg.getBoundingClientRect();
        const at = Math.floor((((event as PointerEvent).clientX - left) / width) * spans);
        point(Math.min(spans - 1, Math.max(0, at)));
      },
      pointerleave: () => point(null),
    },
    svg,
    top > 0 && h("small", format(top)),
  );
  const legend = series.map(({ name, color }, index) => h("span", { class: `key ${color}` }, `${name} `, keys[index]!));
  return {
    figure: h(
      "figure",
      h("figcaption", h("strong", title), ...legend),
      plot,
      h("div", { class: "times" }, h("span", ends[0]), h("span", ends[1])),
    ),
    show(index) {
      cursor.setAttribute("visibility", index === null ? "hidden" : "visible");
      cursor.setAttribute("x", String(index ?? 0));
      return series
        .map(({ name, values: each, total }, position) => {
          const text = index === null ? total : format(each[index]);
          keys[position]!.textContent = text;
          return `${name} ${text}`;
        })
        .join(", ");
    },
  };
}

function bars(series: readonly Series[], top: number): SVGElement[] {
  const below = series[0]!.values.map(() => 0);
  return series.flatMap(({ color, values }) =>
    values.flatMap((value = 0, index) => {
      if (value === 0) return [];
      const height = (value / top) * 100;
      below[index]! += height;
      return [drawn("rect", { class: color, x: index + 0.12, y: 100 - below[index]!, width: 0.76, height })];
    }),
  );
}

/** The line is broken where there is no value; a value between two gaps is a dash as wide as a bar. */
function line({ color, values }: Series, top: number): SVGElement {
  const path = values.map((value, index) => {
    if (value === undefined) return "";
    const y = 100 - (top === 0 ? 0 : value / top) * 100;
    if (values[index - 1] !== undefined) return `L${index + 0.5} ${y}`;
    return values[index + 1] === undefined ? `M${index + 0.12} ${y}h0.76` : `M${index + 0.5} ${y}`;
  });
  return drawn("path", { class: color, d: path.join("") });
}

/** One bar of parts. `all`: the value of the whole bar. Default: the sum of the parts. */
export function stackedBar(
  name: string,
  parts: readonly (readonly [color: string, value: number])[],
  all: number = parts.reduce((sum, [, value]) => sum + value, 0) || 1,
): SVGElement {
  let x = 0;
  return drawn(
    "svg",
    { class: name, viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" },
    ...parts.map(([color, value]) => {
      const width = (value / all) * 100;
      x += width;
      return drawn("rect", { class: color, x: x - width, width, height: 1 });
    }),
  );
}
