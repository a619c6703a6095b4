/**
 * Finds a partner for `left`, each right of `matched` being the partner of one left at most: one step of a maximum matching
 * (an augmenting path). Whoever has a partner may change it where there is a second one. False: there is none for all of them,
 * and `matched` is as it was.
 */
export function assign<Left, Right>(
  left: Left,
  candidatesOf: (left: Left) => Iterable<Right>,
  matched: Map<Right, Left>,
  tried: Set<Right> = new Set(),
): boolean {
  for (const right of candidatesOf(left)) {
    if (tried.has(right)) continue;
    tried.add(right);
    const other = matched.get(right);
    if (other !== undefined && !assign(other, candidatesOf, matched, tried)) continue;
    matched.set(right, left);
    return true;
  }
  return false;
}
