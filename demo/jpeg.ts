/** A picture as it is in memory: three bytes a pixel, row by row. Width and height are multiples of 8. */
export interface Picture {
  width: number;
  height: number;
  rgb: Uint8Array;
}

/** ITU-T T.81, table K.1: how coarsely each frequency of a block is kept, by row. Used for colour as well. */
const COARSENESS = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
  87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
  72, 92, 95, 98, 112, 100, 103, 99,
];

/** T.81, figure A.6: the order in which a block's 64 frequencies are written, low ones first. */
const ZIGZAG = [
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47,
  55, 62, 63,
];

/** T.81, tables K.3 and K.5: how many codes there are of each length from 1 to 16 bits, and what they stand for. */
const DC_CODES = { counts: "00010501010101010100000000000000", symbols: "000102030405060708090a0b" };
const AC_CODES = {
  counts: "0002010303020403050504040000017d",
  symbols:
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a" +
    "434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aa" +
    "b2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa",
};

const RUN_OF_16 = 0xf0;
const END_OF_BLOCK = 0x00;

/** COSINE[frequency * 8 + sample], with the scale of the transform in it. */
const COSINE = Float64Array.from({ length: 64 }, (_, index) => {
  const frequency = index >> 3;
  const scale = frequency === 0 ? Math.SQRT1_2 / 2 : 1 / 2;
  return scale * Math.cos(((2 * (index & 7) + 1) * frequency * Math.PI) / 16);
});

/** A baseline JPEG (T.81) in a JFIF file, colours at full resolution. `quality` is 1 to 100, as the usual tools count it. */
export function encodeJpeg(picture: Picture, quality: number): Uint8Array {
  const scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  const steps = COARSENESS.map((step) => Math.min(255, Math.max(1, Math.floor((step * scale + 50) / 100))));
  const bits = new BitWriter();
  const dcCodes = codeTable(DC_CODES);
  const acCodes = codeTable(AC_CODES);
  const planes = toPlanes(picture);
  const lastDc = planes.map(() => 0);
  for (let top = 0; top < picture.height; top += 8) {
    for (let left = 0; left < picture.width; left += 8) {
      for (const [index, plane] of planes.entries()) {
        const block = transform(plane, picture.width, left, top);
        const levels = ZIGZAG.map((at) => Math.round((block[at] ?? 0) / (steps[at] ?? 1)));
        const dc = levels[0] ?? 0;
        writeLevel(bits, dcCodes, 0, dc - (lastDc[index] ?? 0));
        lastDc[index] = dc;
        writeFrequencies(bits, acCodes, levels);
      }
    }
  }
  const { width, height } = picture;
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from("JFIF\0\x01\x01\0\0\x01\0\x01\0\0", "latin1")),
    segment(0xdb, Buffer.from([0, ...ZIGZAG.map((at) => steps[at] ?? 1)])),
    segment(
      0xc0,
      Buffer.from([8, height >> 8, height & 255, width >> 8, width & 255, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]),
    ),
    segment(0xc4, Buffer.from(`00${DC_CODES.counts}${DC_CODES.symbols}`, "hex")),
    segment(0xc4, Buffer.from(`10${AC_CODES.counts}${AC_CODES.symbols}`, "hex")),
    segment(0xda, Buffer.from([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])),
    bits.finish(),
    Buffer.from([0xff, 0xd9]),
  ]);
}

/** The same picture in exactly so many bytes: a comment, which viewers skip, fills what is missing. */
export function padJpeg(jpeg: Uint8Array, totalBytes: number): Uint8Array {
  const missing = totalBytes - jpeg.byteLength;
  if (missing === 0) return jpeg;
  if (missing < 4 || missing > 0xffff) {
    throw new RangeError(`cannot fill ${jpeg.byteLength} bytes up to ${totalBytes}; choose another quality`);
  }
  const startOfImage = jpeg.subarray(0, 2);
  return Buffer.concat([startOfImage, segment(0xfe, Buffer.alloc(missing - 4, "~")), jpeg.subarray(2)]);
}

function segment(marker: number, content: Uint8Array): Buffer {
  const length = content.byteLength + 2;
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 255]), content]);
}

/** Brightness and the two colour differences, around 0. JFIF 1.02. */
function toPlanes({ width, height, rgb }: Picture): Float64Array[] {
  const [y, cb, cr] = [0, 1, 2].map(() => new Float64Array(width * height)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [r, g, b] = [rgb[pixel * 3] ?? 0, rgb[pixel * 3 + 1] ?? 0, rgb[pixel * 3 + 2] ?? 0];
    y[pixel] = 0.299 * r + 0.587 * g + 0.114 * b - 128;
    cb[pixel] = -0.168736 * r - 0.331264 * g + 0.5 * b;
    cr[pixel] = 0.5 * r - 0.418688 * g - 0.081312 * b;
  }
  return [y, cb, cr];
}

/** The discrete cosine transform of the block of 8 by 8 at that corner, rows first and columns after. T.81 §A.3.3. */
function transform(plane: Float64Array, width: number, left: number, top: number): Float64Array {
  const rows = new Float64Array(64);
  const block = new Float64Array(64);
  for (let row = 0; row < 8; row += 1) {
    for (let frequency = 0; frequency < 8; frequency += 1) {
      let sum = 0;
      for (let x = 0; x < 8; x += 1) {
        sum += (plane[(top + row) * width + left + x] ?? 0) * (COSINE[frequency * 8 + x] ?? 0);
      }
      rows[row * 8 + frequency] = sum;
    }
  }
  for (let frequency = 0; frequency < 8; frequency += 1) {
    for (let column = 0; column < 8; column += 1) {
      let sum = 0;
      for (let y = 0; y < 8; y += 1) sum += (rows[y * 8 + column] ?? 0) * (COSINE[frequency * 8 + y] ?? 0);
      block[frequency * 8 + column] = sum;
    }
  }
  return block;
}

interface Code {
  bits: number;
  length: number;
}

/** T.81 §C.2: codes are counted up, and get a zero at the end with each step in length. */
function codeTable({ counts, symbols }: { counts: string; symbols: string }): Map<number, Code> {
  const table = new Map<number, Code>();
  const values = Buffer.from(symbols, "hex");
  let code = 0;
  let at = 0;
  for (const [index, count] of Buffer.from(counts, "hex").entries()) {
    for (let nth = 0; nth < count; nth += 1) {
      table.set(values[at] ?? 0, { bits: code, length: index + 1 });
      code += 1;
      at += 1;
    }
    code <<= 1;
  }
  return table;
}

function writeFrequencies(bits: BitWriter, codes: Map<number, Code>, levels: readonly number[]): void {
  let zeros = 0;
  for (const level of levels.slice(1)) {
    if (level === 0) {
      zeros += 1;
      continue;
    }
    for (; zeros > 15; zeros -= 16) writeCode(bits, codes, RUN_OF_16);
    writeLevel(bits, codes, zeros << 4, level);
    zeros = 0;
  }
  if (zeros > 0) writeCode(bits, codes, END_OF_BLOCK);
}

/** A level is the code for its size in bits, then the bits; negative ones as their complement. T.81 §F.1.2. */
function writeLevel(bits: BitWriter, codes: Map<number, Code>, run: number, level: number): void {
  const size = level === 0 ? 0 : 32 - Math.clz32(Math.abs(level));
  writeCode(bits, codes, run | size);
  if (size > 0) bits.write(level > 0 ? level : level + (1 << size) - 1, size);
}

function writeCode(bits: BitWriter, codes: Map<number, Code>, symbol: number): void {
  const code = codes.get(symbol);
  if (code === undefined) throw new RangeError(`there is no code for ${symbol}`);
  bits.write(code.bits, code.length);
}

class BitWriter {
  readonly #bytes: number[] = [];
  #pending = 0;
  #count = 0;

  write(value: number, length: number): void {
    for (let bit = length - 1; bit >= 0; bit -= 1) {
      this.#pending = (this.#pending << 1) | ((value >> bit) & 1);
      this.#count += 1;
      if (this.#count === 8) this.#flush();
    }
  }

  finish(): Uint8Array {
    if (this.#count > 0) this.write(0x7f, 8 - this.#count);
    return Uint8Array.from(this.#bytes);
  }

  /** A byte of ones is followed by a zero, so that it is not taken for a marker. T.81 §F.1.2.3. */
  #flush(): void {
    this.#bytes.push(this.#pending);
    if (this.#pending === 0xff) this.#bytes.push(0);
    this.#pending = 0;
    this.#count = 0;
  }
}
