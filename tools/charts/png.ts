/** Pixels for each point of the SVG, so that the picture is sharp in print. */
const SCALE = 2;

/** Points of an SVG in an inch. */
const POINTS = 72;

/** An SVG as a PNG. Needs the optional package `sharp`. */
export async function pngOf(svg: string): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  return sharp(Buffer.from(svg), { density: POINTS * SCALE })
    .png()
    .toBuffer();
}
