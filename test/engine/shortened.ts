/** Leaves out of a list what it can do without, in ever smaller pieces, as long as something is wrong with the rest. */
export async function shortened<T>(
  list: readonly T[],
  isWrong: (list: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let shortest = list;
  for (let size = Math.ceil(list.length / 2); ; size = Math.ceil(size / 2)) {
    const before = shortest.length;
    for (let at = 0; at < shortest.length; ) {
      const rest = [...shortest.slice(0, at), ...shortest.slice(at + size)];
      if (await isWrong(rest)) shortest = rest;
      else at += size;
    }
    if (size <= 1 && shortest.length === before) return shortest;
  }
}
