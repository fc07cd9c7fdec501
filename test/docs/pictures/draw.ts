import type { Arrow, Box, Picture } from "./picture.ts";

/** The grid of boxes, and the size of a box, in pixels. */
const STEP = { x: 204, y: 92 };
const BOX = { width: 156, height: 56 };
const MARGIN = 20;
const TOP = 56;

/** The lanes of a course of events, and the height of a step. */
const LANE = { width: 168, top: 96, step: 38 };

/** The picture as SVG, in light and dark as the reader's system is. */
export function draw(picture: Picture): string {
  return picture.lanes.length > 0 ? drawLanes(picture) : drawBoxes(picture);
}

function drawBoxes(picture: Picture): string {
  const { boxes, arrows } = picture;
  const width = (Math.max(...boxes.map(({ column }) => column)) * STEP.x + BOX.width + 2 * MARGIN) | 0;
  const height = (Math.max(...boxes.map(({ row }) => row)) * STEP.y + BOX.height + TOP + MARGIN) | 0;
  const byName = new Map(boxes.map((box) => [box.name, box]));
  return svg(picture, width, height, [
    ...arrows.map((arrow) => arrowBetween(byName.get(arrow.from)!, byName.get(arrow.to)!, arrow.label)),
    ...boxes.map(boxText),
  ]);
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function cornerOf({ column, row }: Box): Point {
  return { x: MARGIN + column * STEP.x, y: TOP + row * STEP.y };
}

function boxText(box: Box): string {
  const { x, y } = cornerOf(box);
  const first = y + BOX.height / 2 + 5 - (box.lines.length - 1) * 8;
  const texts = box.lines.map((line, index) =>
    text(x + BOX.width / 2, first + index * 16, line, index === 0 ? "name middle" : "soft middle"),
  );
  return `<rect class="box" x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="7"/>\n${texts.join("\n")}`;
}

/** A line from edge to edge: straight within a row or a column, else with one corner. */
function arrowBetween(from: Box, to: Box, label: string): string {
  const [a, b] = [cornerOf(from), cornerOf(to)];
  const isRow = from.row === to.row;
  const isColumn = from.column === to.column;
  const goesRight = to.column > from.column;
  const goesDown = to.row > from.row;
  const middle = (corner: Point) => ({ x: corner.x + BOX.width / 2, y: corner.y + BOX.height / 2 });
  const side = (corner: Point, isRight: boolean) => ({ x: corner.x + (isRight ? BOX.width : 0), y: middle(corner).y });
  const end = (corner: Point, isLower: boolean) => ({ x: middle(corner).x, y: corner.y + (isLower ? BOX.height : 0) });
  if (isColumn) return line([end(a, goesDown), end(b, !goesDown)], label);
  if (isRow) return line([side(a, goesRight), side(b, !goesRight)], label);
  // Down to the left it goes to the left first, so that an answer returns above the boxes that it comes from.
  if (goesDown && !goesRight) return line([side(a, false), { x: middle(b).x, y: middle(a).y }, end(b, false)], label);
  return line([end(a, goesDown), { x: middle(a).x, y: middle(b).y }, side(b, !goesRight)], label);
}

function line(points: readonly Point[], label: string): string {
  const path = points.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join(" ");
  const [first, second] = points as [Point, Point];
  const isUpright = first.x === second.x;
  const at = isUpright
    ? { x: first.x + 6, y: (first.y + second.y) / 2 + 4 }
    : { x: (first.x + second.x) / 2, y: first.y - 7 };
  const drawn = `<path class="arrow" d="${path}" marker-end="url(#head)"/>`;
  return label === "" ? drawn : `${drawn}\n${text(at.x, at.y, label, isUpright ? "soft" : "soft middle")}`;
}

function drawLanes(picture: Picture): string {
  const { lanes, arrows, spans, marks } = picture;
  const rows = Math.max(...arrows.map(({ row }) => row), ...spans.map(({ to }) => to), ...marks.map(({ row }) => row));
  const width = lanes.length * LANE.width + 2 * MARGIN;
  const height = LANE.top + rows * LANE.step + 40;
  const xOf = (lane: string) => MARGIN + (lanes.indexOf(lane) + 0.5) * LANE.width;
  const yOf = (row: number) => LANE.top + row * LANE.step;
  return svg(picture, width, height, [
    ...lanes.map(
      (lane) =>
        `<path class="lane" d="M${xOf(lane)} ${LANE.top - 12} V${height - 20}"/>\n${text(xOf(lane), LANE.top - 22, lane, "name middle")}`,
    ),
    ...spans.map(({ lane, from, to, label }) => {
      const words = label.split(" / ");
      const middle = (yOf(from) + yOf(to)) / 2 - (words.length - 1) * 8 + 4;
      const bar = `<rect class="span" x="${xOf(lane) - 5}" y="${yOf(from)}" width="10" height="${yOf(to) - yOf(from)}" rx="5"/>`;
      return [bar, ...words.map((each, index) => text(xOf(lane) + 12, middle + index * 16, each, "soft"))].join("\n");
    }),
    ...marks.map(
      ({ row, label }) =>
        `<path class="mark" d="M${MARGIN} ${yOf(row)} H${width - MARGIN}"/>\n${text(MARGIN, yOf(row) - 6, label, "marked")}`,
    ),
    ...arrows.map(({ from, to, label, row }: Arrow) => {
      const [x, end] = [xOf(from), xOf(to)];
      const drawn = `<path class="arrow" d="M${x} ${yOf(row)} H${end + (end > x ? -2 : 2)}" marker-end="url(#head)"/>`;
      return `${drawn}\n${text((x + end) / 2, yOf(row) - 6, label, "soft middle")}`;
    }),
  ]);
}

const LIGHT = {
  paper: "#fffdf8",
  ink: "#2c2723",
  soft: "#6b6158",
  line: "#b9ae9f",
  box: "#f4ecdd",
  mark: "#a8461f",
  span: "#d9a066",
};
const DARK = {
  paper: "#1c1916",
  ink: "#ece3d6",
  soft: "#a99d8e",
  line: "#6b6158",
  box: "#2b251e",
  mark: "#eb9a6d",
  span: "#b9783f",
};

function style({ paper, ink, soft, line, box, mark, span }: typeof LIGHT): string {
  return (
    `.paper { fill: ${paper}; } text { fill: ${ink}; } .soft { fill: ${soft}; } .box { fill: ${box}; stroke: ${line}; } ` +
    `.arrow, .lane { stroke: ${line}; } .head { fill: ${line}; } .mark { stroke: ${mark}; } .marked { fill: ${mark}; } .span { fill: ${span}; }`
  );
}

function svg({ title, description }: Picture, width: number, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(description)}">
<style>text { font: 13px system-ui, sans-serif; } .title { font-size: 18px; font-weight: 600; } .name { font-weight: 600; } .soft { font-size: 12px; } .middle { text-anchor: middle; } .arrow, .lane, .mark { fill: none; stroke-width: 1.5; } .lane { stroke-dasharray: 2 4; } .mark { stroke-dasharray: 6 4; } ${style(LIGHT)} @media (prefers-color-scheme: dark) { ${style(DARK)} }</style>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 0 L10 5 L0 10 Z"/></marker></defs>
<rect class="paper" width="${width}" height="${height}"/>
${text(MARGIN, 32, title, "title")}
${parts.join("\n")}
</svg>
`;
}

function text(x: number, y: number, words: string, className: string): string {
  return `<text class="${className}" x="${x}" y="${y}">${escaped(words)}</text>`;
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
