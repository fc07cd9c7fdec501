/** The value under a key, made at its first use. */
export function heldIn<K, V>(
  held: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const value = held.get(key) ?? make();
  held.set(key, value);
  return value;
}
