/** A figure of a measurement: as it stands in the results, and as a number. */
export interface Figure {
  readonly text: string;
  readonly value: number;
}

/** Rows of bars, one for each series. */
export interface Chart {
  /** Its file is `docs/charts/<id>.svg`. */
  readonly id: string;
  readonly title: string;
  /** What the figures are, such as `requests a second`. */
  readonly unit: string;
  /** `row`: the longest bar of each row has the full length. `all`: one scale for the whole picture. */
  readonly scale: 'row' | 'all';
  /** At most three. */
  readonly series: readonly string[];
  readonly rows: readonly ChartRow[];
}

export interface ChartRow {
  readonly label: string;
  /** In the order of the series; undefined where the results have none. */
  readonly figures: readonly (Figure | undefined)[];
}

/** The width of a picture, and the least that its bars have of it. */
const WIDTH = 700;
const BARS_MIN = 180;
const GAP = 10;
const BAR = { height: 11, step: 14, rowGap: 8 };
const HEAD = 66;
/** Of a character of the labels, as wide as most fonts have it at 12 px. */
const CHARACTER = 6.2;

/** The colours of a picture that stands alone. In the site, `theme/style.css` has the same ones. */
const STYLE = `
.back{fill:#fff}
text{font:12px system-ui,sans-serif;fill:#1f2328}
.title{font-size:15px;font-weight:600}
.soft{fill:#59636e}
.a{fill:#0b57d0}.b{fill:#b35900}.c{fill:#6b7280}
@media (prefers-color-scheme:dark){.back{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9da7b1}.a{fill:#6ea8fe}.b{fill:#f0a35e}.c{fill:#9aa4b2}}
`.trim();

/**
 * The picture as SVG, without empty lines, so that it may stand in a page of Markdown. `alone`: with its own colours, for
 * light and dark surroundings. Titles and figures are text; the description has all of them in sentences.
 */
export function chartSvg(chart: Chart, { alone }: { readonly alone: boolean }): string {
  const labels = widthOf(chart.rows.map(({ label }) => label));
  const figures = widthOf(chart.rows.flatMap((row) => row.figures.map((figure) => figure?.text ?? '')));
  const bars = Math.max(BARS_MIN, WIDTH - labels - figures);
  const width = labels + bars + figures;
  const rowHeight = chart.series.length * BAR.step + BAR.rowGap;
  const height = HEAD + chart.rows.length * rowHeight;
  const largest = Math.max(...chart.rows.map(largestOf));
  const rows = chart.rows.map((row, at) => {
    const full = chart.scale === 'all' ? largest : largestOf(row);
    return rowSvg(row, { labels, bars, top: HEAD + at * rowHeight, full });
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${chart.id}-title ${chart.id}-desc">`,
    `<title id="${chart.id}-title">${escaped(chart.title)}</title>`,
    `<desc id="${chart.id}-desc">${escaped(description(chart))}</desc>`,
    ...(alone ? [`<style>${STYLE}</style>`, `<rect class="back" width="${width}" height="${height}"/>`] : []),
    `<text class="title" x="0" y="16">${escaped(chart.title)}</text>`,
    `<text class="soft" x="0" y="34">${escaped(chart.unit)}${chart.scale === 'row' ? '; each row has a scale of its own' : ''}</text>`,
    ...chart.series.map((name, at) => legendSvg(name, at, chart.series)),
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

const widthOf = (texts: readonly string[]): number =>
  Math.ceil(Math.max(...texts.map((text) => text.length)) * CHARACTER) + GAP;

const classes = ['a', 'b', 'c'] as const;

function legendSvg(name: string, at: number, series: readonly string[]): string {
  const before = series.slice(0, at).reduce((sum, each) => sum + each.length * CHARACTER + 34, 0);
  const x = Math.round(before);
  return `<rect class="${classes[at]}" x="${x}" y="44" width="10" height="10"/><text x="${x + 14}" y="53">${escaped(name)}</text>`;
}

function rowSvg(
  { label, figures }: ChartRow,
  place: { readonly labels: number; readonly bars: number; readonly top: number; readonly full: number },
): string {
  const { labels, bars: space, top, full } = place;
  const middle = top + (figures.length * BAR.step) / 2 + 2;
  const bars = figures.flatMap((figure, at) => {
    if (figure === undefined) return [];
    const y = top + at * BAR.step;
    // Where all figures of a row are 0, as of what is too little to be measured, so is the row's scale.
    const length = Math.max(1, Math.round((full === 0 ? 0 : figure.value / full) * space));
    return [
      `<rect class="${classes[at]}" x="${labels}" y="${y}" width="${length}" height="${BAR.height}"/>`,
      `<text class="soft" x="${labels + length + 5}" y="${y + 10}">${escaped(figure.text)}</text>`,
    ];
  });
  return [`<text x="0" y="${middle}">${escaped(label)}</text>`, ...bars].join('');
}

const largestOf = ({ figures }: ChartRow): number => Math.max(0, ...figures.map((figure) => figure?.value ?? 0));

/** Every figure, for readers who do not see the bars. */
function description({ unit, series, rows }: Chart): string {
  const sentences = rows.map(({ label, figures }) => {
    const told = figures.flatMap((figure, at) => (figure === undefined ? [] : [`${series[at]} ${figure.text}`]));
    return `${label}: ${told.join(', ')}.`;
  });
  return `${unit}. ${sentences.join(' ')}`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
