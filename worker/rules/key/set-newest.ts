/** Sets a key's value as the newest of a map, which holds at most so many keys: beyond them, the oldest goes. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, maxKeys: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > maxKeys) map.delete(map.keys().next().value!);
}
