/** A bar or a point, with its label below and its value above. */
export interface Column {
  readonly label: string;
  readonly value: number;
  readonly text: string;
}

const WIDTH = 720;
const HEIGHT = 200;
const TOP = 22;
const BOTTOM = 24;
const PLOT = HEIGHT - TOP - BOTTOM;

/** Columns from 0 to 1 as an SVG. `marked`: the label of the highlighted one. */
export function columnChart(title: string, columns: readonly Column[], marked: string | null): string {
  const step = WIDTH / Math.max(1, columns.length);
  const bars = columns.map(({ label, value, text }, index) => {
    const height = Math.max(1, value * PLOT);
    const middle = (index + 0.5) * step;
    return [
      `<rect class="${label === marked ? "marked" : "bar"}" x="${at(middle - step * 0.36)}" y="${at(TOP + PLOT - height)}" width="${at(step * 0.72)}" height="${at(height)}"/>`,
      `<text x="${at(middle)}" y="${at(TOP + PLOT - height - 6)}">${escaped(text)}</text>`,
      `<text class="label" x="${at(middle)}" y="${HEIGHT - 6}">${escaped(label)}</text>`,
    ].join("");
  });
  return svg(title, bars.join(""));
}

/**
 * Two curves over the same places, the second below the first: requests that arrive, and those that reach the origin.
 */
export function areaChart(
  title: string,
  labels: readonly string[],
  outer: readonly number[],
  inner: readonly number[],
): string {
  const highest = Math.max(1, ...outer);
  const step = WIDTH / Math.max(1, outer.length);
  const steps = (values: readonly number[]) =>
    values.map((value, index) => {
      const y = at(TOP + PLOT - (value / highest) * PLOT);
      return `L${at(index * step)} ${y}L${at((index + 1) * step)} ${y}`;
    });
  const area = (kind: string, values: readonly number[]) =>
    `<path class="${kind}" d="M0 ${TOP + PLOT}${steps(values).join("")}L${WIDTH} ${TOP + PLOT}Z"/>`;
  const marks = labels.map((label, index) =>
    index % 3 === 0
      ? `<text class="label" x="${at((index + 0.5) * step)}" y="${HEIGHT - 6}">${escaped(label)}</text>`
      : "",
  );
  return svg(title, `${area("outer", outer)}${area("inner", inner)}${marks.join("")}`);
}

function svg(title: string, content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}"><line x1="0" y1="${TOP + PLOT}" x2="${WIDTH}" y2="${TOP + PLOT}"/>${content}</svg>`;
}

function at(number: number): string {
  return String(Math.round(number * 10) / 10);
}

/** Text for HTML. Paths and queries are written by visitors. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
