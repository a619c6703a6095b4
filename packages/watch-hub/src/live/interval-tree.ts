/**
 * An interval [start, end) and its place in a tree. Texts have one character per byte. Only the tree may change the
 * fields that follow `marked`.
 */
export interface Interval<Node> {
  readonly start: string;
  readonly end: string;
  /** Uniformly random and fixed. Random priorities keep the tree balanced for any intervals that clients choose. */
  readonly priority: number;
  /** Set by the owner, which must call `IntervalTree.remark` after a change. `anyMarked` looks for marked intervals. */
  readonly marked: boolean;
  /** The greatest end in this subtree. */
  maxEnd: string;
  /** The greatest end of a marked interval in this subtree; '' if there is none. */
  maxMarkedEnd: string;
  left: Node | undefined;
  right: Node | undefined;
}

/** The end of a range without an end: greater than every text whose characters are bytes. */
export const UNBOUNDED_END = '\u0100';

/**
 * Finds the intervals that contain a point. The tree is a treap ordered by start, then end. Each node stores the
 * greatest end of its subtree (the interval tree of Cormen et al., Introduction to Algorithms). A query costs O(log n),
 * and at most O(log n) more for each interval found. If the intervals are disjoint or only a few are nested, as with
 * prefixes, it costs O(log n + found).
 */
export class IntervalTree<Node extends Interval<Node>> {
  #root: Node | undefined;

  /** The tree must not contain an interval with the same start and the same end. */
  insert(node: Node): void {
    this.#root = insert(this.#root, node);
  }

  /** The node must be in the tree. */
  remove(node: Node): void {
    this.#root = remove(this.#root, node);
  }

  /** Must be called after a change of the node's mark. */
  remark(node: Node): void {
    remark(this.#root, node);
  }

  /**
   * Appends the nodes whose interval contains the point to `found`. Stops once `found` has more than `foundMax` nodes.
   */
  stab(point: string, found: Node[], foundMax: number): void {
    if (this.#root !== undefined) stab(this.#root, point, found, foundMax);
  }

  /**
   * Whether a marked interval contains the point, in O(log n). The search descends into one subtree only. If a marked
   * interval of the left subtree ends after the point but does not contain it, it starts after the point, and so do all
   * intervals of the right subtree.
   */
  anyMarked(point: string): boolean {
    let node = this.#root;
    while (node !== undefined && node.maxMarkedEnd > point) {
      if (node.marked && node.start <= point && point < node.end) return true;
      node = node.left !== undefined && node.left.maxMarkedEnd > point ? node.left : node.right;
    }
    return false;
  }
}

function stab<Node extends Interval<Node>>(node: Node, point: string, found: Node[], foundMax: number): void {
  if (node.maxEnd <= point || found.length > foundMax) return;
  if (node.left !== undefined) stab(node.left, point, found, foundMax);
  if (node.start > point) return;
  if (point < node.end) found.push(node);
  if (node.right !== undefined) stab(node.right, point, found, foundMax);
}

function remark<Node extends Interval<Node>>(root: Node | undefined, node: Node): void {
  if (root === undefined) return;
  if (root !== node) remark(precedes(node, root) ? root.left : root.right, node);
  update(root);
}

function precedes<Node extends Interval<Node>>(left: Node, right: Node): boolean {
  return left.start < right.start || (left.start === right.start && left.end < right.end);
}

function update<Node extends Interval<Node>>(node: Node): void {
  const { left, right } = node;
  let maxEnd = node.end;
  let maxMarkedEnd = node.marked ? node.end : '';
  if (left !== undefined) {
    if (left.maxEnd > maxEnd) maxEnd = left.maxEnd;
    if (left.maxMarkedEnd > maxMarkedEnd) maxMarkedEnd = left.maxMarkedEnd;
  }
  if (right !== undefined) {
    if (right.maxEnd > maxEnd) maxEnd = right.maxEnd;
    if (right.maxMarkedEnd > maxMarkedEnd) maxMarkedEnd = right.maxMarkedEnd;
  }
  node.maxEnd = maxEnd;
  node.maxMarkedEnd = maxMarkedEnd;
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

/** Splits a subtree into the nodes before `at` and the nodes after it. */
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

/** Joins two subtrees. All nodes of `lower` must precede all nodes of `upper`. */
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
