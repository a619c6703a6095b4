/**
 * Finds a partner for `left` by one step of a maximum matching (an augmenting path). Each right is the partner of at
 * most one left. A left that has a partner may get another one. Returns false if there is no partner for all of them;
 * `matched` is then unchanged.
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
