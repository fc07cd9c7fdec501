/** A size as the option for it is written. */
export function sizeText(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return mebibytes < 1024
    ? `${Number(mebibytes.toPrecision(3))}MiB`
    : `${Number((mebibytes / 1024).toPrecision(3))}GiB`;
}
