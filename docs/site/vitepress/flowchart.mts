import dagre from '@dagrejs/dagre';

const CHARACTER = 7.4;
const BOX_HEIGHT = 28;

/**
 * A picture of lines `a --> b -. label .-> c` below `flowchart TD`, as SVG: the part of Mermaid's language that the pages use. Throws for
 * another line.
 */
export function flowchartSvg(text: string): string {
  const [head, ...lines] = text.trim().split('\n');
  if (head !== 'flowchart TD') throw new Error(`no picture: ${head}`);
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 18, ranksep: 34, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const line of lines) addLine(graph, line.trim());
  dagre.layout(graph);
  const { width, height } = graph.graph();
  const edges = graph.edges().map((edge) => edgeSvg(graph.edge(edge)));
  const boxes = graph.nodes().map((name) => boxSvg(name, graph.node(name)));
  const told = graph.edges().map(({ v, w }) => `${v} to ${w}`);
  return [
    `<figure class="flowchart"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${told.join(', ')}</title>`,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z"/></marker></defs>',
    ...edges,
    ...boxes,
    '</svg></figure>',
  ].join('\n');
}

function addLine(graph: dagre.graphlib.Graph, line: string): void {
  const parts = line.split(/ (-->|-\. \w+ \.->) /);
  if (parts.length < 3) throw new Error(`no line of a picture: ${line}`);
  for (let at = 0; at < parts.length; at += 2)
    graph.setNode(parts[at], { width: parts[at].length * CHARACTER + 20, height: BOX_HEIGHT });
  for (let at = 1; at < parts.length; at += 2) {
    const label = /\w+/.exec(parts[at])?.[0];
    const size = label === undefined ? {} : { label, width: label.length * CHARACTER, height: 14, labelpos: 'c' };
    graph.setEdge(parts[at - 1], parts[at + 1], size);
  }
}

interface Edge {
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** The port of a dotted arrow, and where it is written. */
  readonly label?: string;
  readonly x?: number;
  readonly y?: number;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function edgeSvg({ points, label, x = 0, y = 0 }: Edge): string {
  const path = points
    .map((point, at) => `${at === 0 ? 'M' : 'L'}${point.x.toFixed(1)} ${point.y.toFixed(1)}`)
    .join(' ');
  const dashes = label === undefined ? '' : ' stroke-dasharray="4 3"';
  const line = `<path class="edge" d="${path}" marker-end="url(#arrow)"${dashes}/>`;
  return label === undefined ? line : `${line}<text class="port" x="${x}" y="${y + 4}">${label}</text>`;
}

const boxSvg = (name: string, { x, y, width, height }: Box): string =>
  `<rect class="box" x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="4"/>` +
  `<text x="${x}" y="${y + 4}">${name}</text>`;
