// Compiles the modules that it gets on its input, `{ name: source }` in TypeScript, and prints one line for each that does not compile.
// A process of its own, for modules of a virtual machine need a flag of node: --experimental-vm-modules.
import { stripTypeScriptTypes } from 'node:module';
import { text } from 'node:stream/consumers';
import { SourceTextModule } from 'node:vm';

const sources = JSON.parse(await text(process.stdin)) as Readonly<Record<string, string>>;
for (const [name, source] of Object.entries(sources)) {
  try {
    new SourceTextModule(stripTypeScriptTypes(source));
  } catch (error) {
    console.log(`${name}: ${String(error)}`);
  }
}
