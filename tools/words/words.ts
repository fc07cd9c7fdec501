import { counted, whole } from "#tidemark/internal";

/** `71.0 %`: always with a tenth, so that the numbers in a column line up. */
export function percentOf(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `34 MiB`. */
export function sizeOf(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < SIZES.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size >= 10 || unit === 0 || Number.isInteger(size) ? Math.round(size) : size.toFixed(1)} ${SIZES[unit]}`;
}

/** `3.2 days`, `5.0 hours`, `40 minutes`. */
export function durationOf(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${(hours / 24).toFixed(1)} days`;
  return hours >= 2 ? `${hours.toFixed(1)} hours` : counted(Math.max(1, Math.round(hours * 60)), "minute");
}

/** `0.8 ms`, `12 ms`. */
export function msOf(ms: number): string {
  return `${ms >= 9.95 ? whole(ms) : ms.toFixed(1)} ms`;
}

/** `2026-10-05 00:00`, UTC. */
export function timeOf(iso: string): string {
  return iso.slice(0, 16).replace("T", " ");
}
