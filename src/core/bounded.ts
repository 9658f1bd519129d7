/** Puts a value into a map that holds `most`: the key that came first makes room. */
export const putBounded = <Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void => {
  if (map.size >= most && !map.has(key)) map.delete(map.keys().next().value!)
  map.set(key, value)
}
