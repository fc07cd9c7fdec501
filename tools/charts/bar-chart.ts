import { escaped } from "./charts.ts";

/** A group of bars under its name. */
export interface BarGroup {
  readonly name: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  /** Whether it is highlighted. */
  readonly isMarked: boolean;
}

const WIDTH = 720;
const MARGIN = 24;
const NAMES = 190;
/** Room for the text after the longest bar. */
const TEXTS = 80;
const BAR = 18;
const STEP = 24;
const GROUP_GAP = 14;
const HEAD = 72;

/** Horizontal bars in groups, as a complete SVG file with title, colours and background. */
export function barChart(title: string, subtitle: string, groups: readonly BarGroup[]): string {
  const highest = Math.max(Number.MIN_VALUE, ...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const left = MARGIN + NAMES;
  const room = WIDTH - left - MARGIN - TEXTS;
  let y = HEAD + MARGIN;
  const rows: string[] = [];
  for (const { name, bars } of groups) {
    rows.push(`<text class="name" x="${MARGIN}" y="${y + BAR - 5}">${escaped(name)}</text>`);
    for (const { label, value, text, isMarked } of bars) {
      const width = Math.max(1, Math.round((value / highest) * room * 10) / 10);
      const middle = y + BAR - 5;
      rows.push(
        `<text class="label" x="${left - 10}" y="${middle}">${escaped(label)}</text>`,
        `<rect class="${isMarked ? "marked" : "bar"}" x="${left}" y="${y}" width="${width}" height="${BAR}"/>`,
        `<text x="${left + width + 8}" y="${middle}">${escaped(text)}</text>`,
      );
      y += STEP;
    }
    y += GROUP_GAP;
  }
  const height = y + MARGIN - GROUP_GAP;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(`${title} ${subtitle}`)}">
<style>${STYLE}</style>
<rect class="paper" width="${WIDTH}" height="${height}"/>
<text class="title" x="${MARGIN}" y="${MARGIN + 18}">${escaped(title)}</text>
<text class="subtitle" x="${MARGIN}" y="${MARGIN + 42}">${escaped(subtitle)}</text>
${rows.join("\n")}
</svg>
`;
}

const STYLE =
  "text { font: 13px system-ui, sans-serif; fill: #14232b; } .paper { fill: #fff; } .title { font-size: 20px; font-weight: 600; } " +
  ".subtitle, .label { fill: #5b6d77; } .label { text-anchor: end; } .name { font-weight: 600; } .bar { fill: #bcdbe0; } .marked { fill: #1d7a8c; }";
