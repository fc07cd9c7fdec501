import { type Answer, strongEtag } from "./answer.ts";
import { immutableFields } from "./cache-fields.ts";
import { encodeJpeg, type Picture, padJpeg } from "./jpeg.ts";
import { seededRandom } from "./seeded-random.ts";

type Colour = readonly [number, number, number];

interface Cover {
  seed: number;
  width: number;
  height: number;
  /** Chosen so that the picture comes out just below its size; the rest is filled. */
  quality: number;
  totalBytes: number;
}

/** The pictures that are exactly 32 KB and 100 KB, for looking at and for measuring. */
const COVERS = new Map<string, Cover>([
  ["cover-32k.jpg", { seed: 32, width: 720, height: 304, quality: 73, totalBytes: 32 * 1024 }],
  ["cover-100k.jpg", { seed: 100, width: 1200, height: 504, quality: 82, totalBytes: 100 * 1024 }],
]);

const SKY_TOP: Colour = [246, 226, 196];
const SKY_LOW: Colour = [233, 158, 104];
const SUN: Colour = [253, 243, 214];
const SEA_FAR: Colour = [143, 148, 146];
const SEA_NEAR: Colour = [20, 62, 74];
const WAVES = 7;

const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#17505c"/><circle cx="21" cy="12" r="4.5" fill="#f0c08a"/><path d="M3 20c4-4 8 3 13 0s8-3 13 0M3 26c4-4 8 3 13 0s8-3 13 0" fill="none" stroke="#fbf6ec" stroke-width="2.4" stroke-linecap="round"/></svg>
`;

const made = new Map<string, Answer>();

/** `/images/…`: undefined where there is no such picture. Each is made once, when it is first asked for. */
export function image(name: string): Answer | undefined {
  const known = made.get(name);
  if (known !== undefined) return known;
  const cover = COVERS.get(name);
  if (name === "mark.svg") made.set(name, imageAnswer("image/svg+xml", MARK));
  else if (cover !== undefined) {
    const jpeg = padJpeg(encodeJpeg(paint(cover), cover.quality), cover.totalBytes);
    made.set(name, imageAnswer("image/jpeg", jpeg));
  }
  return made.get(name);
}

function imageAnswer(type: string, body: string | Uint8Array): Answer {
  return {
    status: 200,
    fields: {
      "content-type": type,
      "x-content-type-options": "nosniff",
      etag: strongEtag(body),
      ...immutableFields("images"),
    },
    body,
  };
}

/** A low sun over waves, with the grain of a print. */
function paint({ seed, width, height }: Cover): Picture {
  const random = seededRandom(seed);
  const horizon = height * 0.42;
  const sun = { x: width * (0.25 + 0.5 * random.next()), y: horizon * 0.78, radius: height * 0.17 };
  const waves = Array.from({ length: WAVES }, (_, nth) => {
    const nearness = (nth + 1) / WAVES;
    return {
      colour: mix(SEA_FAR, SEA_NEAR, nearness),
      level: horizon + (height - horizon) * (nth / WAVES) ** 1.35,
      amplitude: height * (0.006 + 0.034 * nearness),
      length: width * (0.1 + 0.22 * nearness),
      phase: random.next() * 2 * Math.PI,
    };
  });
  const rgb = new Uint8Array(width * height * 3);
  for (let x = 0; x < width; x += 1) {
    const crests = waves.map(({ level, amplitude, length, phase }) => {
      const angle = (2 * Math.PI * x) / length + phase;
      return level + amplitude * (Math.sin(angle) + 0.4 * Math.sin(2.3 * angle + phase));
    });
    for (let y = 0; y < height; y += 1) {
      const nearest = crests.findLastIndex((crest) => y >= crest);
      const wave = waves[nearest];
      const below = y - (crests[nearest] ?? 0);
      let colour: Colour;
      if (wave !== undefined) colour = mix(SKY_LOW, wave.colour, Math.min(1, 0.55 + below / (height * 0.05)));
      else if (Math.hypot(x - sun.x, y - sun.y) < sun.radius) colour = SUN;
      else colour = mix(SKY_TOP, SKY_LOW, y / horizon);
      const grain = (random.next() - 0.5) * 10;
      for (const [channel, value] of colour.entries()) {
        rgb[(y * width + x) * 3 + channel] = Math.max(0, Math.min(255, Math.round(value + grain)));
      }
    }
  }
  return { width, height, rgb };
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const between = (a: number, b: number): number => a + (b - a) * share;
  return [between(from[0], to[0]), between(from[1], to[1]), between(from[2], to[2])];
}
