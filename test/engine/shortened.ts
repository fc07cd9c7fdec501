/** Removes the unnecessary items of a list, in ever smaller pieces, as long as the rest still shows the fault. */
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
