import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { slugOf } from './markdown.ts';
import { flowchartSvg } from './flowchart.mts';

interface Navigation {
  readonly base: string;
  readonly sections: readonly {
    readonly title: string;
    readonly pages: readonly { readonly title: string; readonly link: string }[];
  }[];
}
const { base, sections }: Navigation = JSON.parse(readFileSync(new URL('navigation.json', import.meta.url), 'utf8'));

/** The sections that begin closed: they have many pages, and few readers. */
const closed = ['Decisions', 'Results'];

export default defineConfig({
  title: 'Engram',
  description: "A store with etcd's v3 API, below Kubernetes and below anything else that speaks etcd",
  base,
  srcDir: 'pages',
  outDir: 'dist',
  markdown: {
    // The anchors of the repository's own links, which follow GitHub's rule.
    anchor: { slugify: slugOf },
    config(md) {
      const fence = md.renderer.rules.fence!;
      md.renderer.rules.fence = (tokens, at, ...rest) =>
        tokens[at]!.info.trim() === 'mermaid' ? flowchartSvg(tokens[at]!.content) : fence(tokens, at, ...rest);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    sidebar: sections.map(({ title, pages }) => ({
      text: title,
      collapsed: closed.includes(title),
      items: pages.map((page) => ({ text: page.title, link: page.link })),
    })),
    nav: [
      { text: 'Quick start', link: '/quickstart' },
      { text: 'Operations', link: '/operations' },
      { text: 'Failures', link: '/failures' },
      { text: 'Benchmarks', link: '/benchmarks' },
      { text: 'Architecture', link: '/architecture' },
    ],
  },
});
