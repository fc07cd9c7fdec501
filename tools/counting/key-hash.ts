/**
 * A 64-bit hash of a text in two halves. The latest call leaves it here, because an object for each call would cost
 * more.
 */
export const keyHash = { high: 0, low: 0 };

/** Hashes a text into `keyHash`: two sums with different multipliers, mixed at the end as in MurmurHash3. */
export function hashKey(text: string, seed = 0): void {
  let high = 0x9e3779b9 ^ seed;
  let low = 0x85ebca6b ^ text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995);
  }
  keyHash.high = mixed(high ^ (low >>> 15)) >>> 0;
  keyHash.low = mixed(low ^ (high >>> 13)) >>> 0;
}

function mixed(hash: number): number {
  let mix = hash ^ (hash >>> 16);
  mix = Math.imul(mix, 0x85ebca6b);
  mix ^= mix >>> 13;
  mix = Math.imul(mix, 0xc2b2ae35);
  return mix ^ (mix >>> 16);
}
