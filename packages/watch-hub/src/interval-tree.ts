/** [start, end) over texts with one character for each byte, and its place in a tree. Only the tree touches the rest. */
export interface Interval<Node> {
  readonly start: string;
  readonly end: string;
  /** Uniformly random, fixed: it keeps the tree balanced whatever clients ask for. */
  readonly priority: number;
  /** The greatest end in the subtree. */
  maxEnd: string;
  left: Node | undefined;
  right: Node | undefined;
}

/** Above every text whose characters are bytes: the end of a range without one. */
export const UNBOUNDED_END = '\u0100';

/**
 * Which intervals contain a point: a treap ordered by start, then end, in which each node knows the greatest end below
 * it (the interval tree of Cormen et al., Introduction to Algorithms). A question costs O(log n) and O(log n) at most
 * for each answer; for intervals that are disjoint or nested in few, as prefixes are, O(log n + answers).
 */
export class IntervalTree<Node extends Interval<Node>> {
  #root: Node | undefined;

  /** No interval that is in the tree has the same start and end. */
  insert(node: Node): void {
    this.#root = insert(this.#root, node);
  }

  /** The node must be in the tree. */
  remove(node: Node): void {
    this.#root = remove(this.#root, node);
  }

  /** Appends to `found` every node whose interval contains the point. */
  stab(point: string, found: Node[]): void {
    if (this.#root !== undefined) stab(this.#root, point, found);
  }
}

function stab<Node extends Interval<Node>>(node: Node, point: string, found: Node[]): void {
  if (node.maxEnd <= point) return;
  if (node.left !== undefined) stab(node.left, point, found);
  if (node.start > point) return;
  if (point < node.end) found.push(node);
  if (node.right !== undefined) stab(node.right, point, found);
}

function precedes<Node extends Interval<Node>>(left: Node, right: Node): boolean {
  return left.start < right.start || (left.start === right.start && left.end < right.end);
}

function update<Node extends Interval<Node>>(node: Node): void {
  let maxEnd = node.end;
  if (node.left !== undefined && node.left.maxEnd > maxEnd) maxEnd = node.left.maxEnd;
  if (node.right !== undefined && node.right.maxEnd > maxEnd) maxEnd = node.right.maxEnd;
  node.maxEnd = maxEnd;
}

function insert<Node extends Interval<Node>>(root: Node | undefined, node: Node): Node {
  if (root === undefined || node.priority > root.priority) {
    [node.left, node.right] = split(root, node);
    update(node);
    return node;
  }
  if (precedes(node, root)) root.left = insert(root.left, node);
  else root.right = insert(root.right, node);
  update(root);
  return root;
}

/** The nodes before `at`, and those after it. */
function split<Node extends Interval<Node>>(
  root: Node | undefined,
  at: Node,
): [lower: Node | undefined, upper: Node | undefined] {
  if (root === undefined) return [undefined, undefined];
  if (precedes(root, at)) {
    const [lower, upper] = split(root.right, at);
    root.right = lower;
    update(root);
    return [root, upper];
  }
  const [lower, upper] = split(root.left, at);
  root.left = upper;
  update(root);
  return [lower, root];
}

function remove<Node extends Interval<Node>>(root: Node | undefined, node: Node): Node | undefined {
  if (root === undefined) return undefined;
  if (root === node) {
    const merged = merge(node.left, node.right);
    node.left = undefined;
    node.right = undefined;
    return merged;
  }
  if (precedes(node, root)) root.left = remove(root.left, node);
  else root.right = remove(root.right, node);
  update(root);
  return root;
}

/** All of `lower` precede all of `upper`. */
function merge<Node extends Interval<Node>>(lower: Node | undefined, upper: Node | undefined): Node | undefined {
  if (lower === undefined) return upper;
  if (upper === undefined) return lower;
  if (lower.priority > upper.priority) {
    lower.right = merge(lower.right, upper);
    update(lower);
    return lower;
  }
  upper.left = merge(lower, upper.left);
  update(upper);
  return upper;
}
