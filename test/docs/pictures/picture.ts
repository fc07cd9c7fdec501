/** A box of a picture, at a place of the grid, which may be half a step. */
export interface Box {
  readonly name: string;
  readonly column: number;
  readonly row: number;
  /** The first line is bold. */
  readonly lines: readonly string[];
}

/** An arrow between two boxes, or between two lanes at a row. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** Of a picture with lanes: the step at which it is drawn. */
  readonly row: number;
}

/** A stretch of a lane, between two steps, with what is the case meanwhile. */
export interface Span {
  readonly lane: string;
  readonly from: number;
  readonly to: number;
  readonly label: string;
}

/** A picture as its text describes it. */
export interface Picture {
  readonly title: string;
  /** What a reader who cannot see it is told. */
  readonly description: string;
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  /** The lanes of a course of events; none in a picture of boxes. */
  readonly lanes: readonly string[];
  readonly spans: readonly Span[];
  /** Lines across all lanes. */
  readonly marks: readonly { readonly row: number; readonly label: string }[];
}

/**
 * Reads the text of a picture, one statement a line:
 *
 *     title The way of a request
 *     description A request is resolved, and looked up in memory …
 *     box memory at 2 0: Memory / fresh: HIT
 *     arrow memory to cache: nothing usable
 *     lane Backend
 *     step 1 Backend to Log: purge tag song:42
 *     span Isolate from 2 to 5: may still serve the old page
 *     mark 6: settled
 *
 * Throws for a line that is none of these, and for a box or lane that is not there.
 */
export function readPicture(text: string): Picture {
  const picture = {
    title: "",
    description: "",
    boxes: [] as Box[],
    arrows: [] as Arrow[],
    lanes: [] as string[],
    spans: [] as Span[],
    marks: [] as { row: number; label: string }[],
  };
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() !== "" && !line.startsWith("#") && !take(picture, line)) {
      throw new Error(`line ${index + 1} of the picture is no statement: ${line}`);
    }
  }
  const known = new Set([...picture.lanes, ...picture.boxes.map(({ name }) => name)]);
  const named = [...picture.arrows.flatMap(({ from, to }) => [from, to]), ...picture.spans.map(({ lane }) => lane)];
  const unknown = named.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`the picture "${picture.title}" has no box and no lane ${unknown}`);
  return picture;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] extends readonly (infer Each)[] ? Each[] : T[Key] };

function take(picture: Writable<Picture>, line: string): boolean {
  const [, title] = /^title (.+)$/.exec(line) ?? [];
  if (title !== undefined) picture.title = title;
  const [, description] = /^description (.+)$/.exec(line) ?? [];
  if (description !== undefined) picture.description = description;
  const [, lane] = /^lane (.+)$/.exec(line) ?? [];
  if (lane !== undefined) picture.lanes.push(lane);
  const box = /^box ([\w-]+) at (\S+) (\S+): (.+)$/.exec(line);
  if (box) {
    const [, name, column, row, words] = box;
    picture.boxes.push({ name: name!, column: Number(column), row: Number(row), lines: words!.split(" / ") });
  }
  const arrow = /^arrow ([\w-]+) to ([\w-]+)(?:: (.+))?$/.exec(line);
  if (arrow) picture.arrows.push({ from: arrow[1]!, to: arrow[2]!, label: arrow[3] ?? "", row: 0 });
  const step = /^step (\S+) (.+) to ([^:]+): (.+)$/.exec(line);
  if (step) picture.arrows.push({ row: Number(step[1]), from: step[2]!, to: step[3]!, label: step[4]! });
  const span = /^span (.+) from (\S+) to (\S+): (.+)$/.exec(line);
  if (span) picture.spans.push({ lane: span[1]!, from: Number(span[2]), to: Number(span[3]), label: span[4]! });
  const mark = /^mark (\S+): (.+)$/.exec(line);
  if (mark) picture.marks.push({ row: Number(mark[1]), label: mark[2]! });
  return (title ?? description ?? lane ?? box ?? arrow ?? step ?? span ?? mark) != null;
}
