/** `12,345`, to the nearest whole number. */
export function whole(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** `1 page`, `2,345 pages`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${whole(count)} ${Math.round(count) === 1 ? one : several}`;
}

/** To a tenth. 100 % means all. */
export function percent(share: number, by: "round" | "floor" = "round"): string {
  const tenths = Math[by](share * 1000);
  return `${(share < 1 ? Math.min(tenths, 999) : tenths) / 10} %`;
}

export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  const unit = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  return `${Number((bytes / 1000 ** unit).toPrecision(3))} ${units[unit]}`;
}

/** A memory's size, in the unit of its setting. */
export function memorySize(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return `${mebibytes < 100 ? Number(mebibytes.toPrecision(3)) : Math.round(mebibytes)} MiB`;
}

export function ms(time: number): string {
  return `${Number(time.toPrecision(2))} ms`;
}
