import { sizeBytes } from "../../worker/site/units.ts";

/** The units of nginx, which are powers of 1,024 as well. */
const OF_NGINX: Readonly<Record<string, string>> = { k: "KiB", m: "MiB", g: "GiB" };

/** Reads a size like `512MiB`, or like nginx's `512m`, or a plain 0: bytes; `null` if it is none. */
export function readSize(text: string): number | null {
  const inBytes = text.replace(/(?<=\d)[kmg]$/i, (unit) => OF_NGINX[unit.toLowerCase()]!);
  const parsed = sizeBytes.safeParse(text === "0" ? 0 : inBytes);
  return parsed.success ? parsed.data : null;
}

/** A size as the option for it is written. */
export function sizeText(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return mebibytes < 1024
    ? `${Number(mebibytes.toPrecision(3))}MiB`
    : `${Number((mebibytes / 1024).toPrecision(3))}GiB`;
}
