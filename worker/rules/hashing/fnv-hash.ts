/** FNV-1a of 32 bits, over the code units of a text. For tables in memory alone: it is quick, and anybody can make collisions. */
export function fnvHash(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return hash;
}
