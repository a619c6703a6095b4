// `make chart`: writes the chart's README and values.schema.json from values.yaml.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readme, valuesSchema } from './generate.ts';
import { chart } from './parameters.ts';

writeFileSync(join(chart, 'values.schema.json'), valuesSchema());
writeFileSync(join(chart, 'README.md'), readme());
