import { projections } from '../projections/catalogue.js';
import { projectionStatus, type StoredProjectionStatus } from '../projections/runner/status.js';
import { optionsOf, runScript } from './script.js';
import { printJson, printTable } from './table.js';

const columns = ['name', 'version', 'live', 'state', 'position', 'behind (positions)', 'behind (ms)'] as const;

const rowOf = ({ name, version, liveVersion, state, lag }: StoredProjectionStatus): readonly string[] => [
  name,
  String(version),
  liveVersion ?? '-',
  state,
  String(lag?.position ?? '-'),
  String(lag?.positions ?? '-'),
  String(lag?.ms ?? '-'),
];

/**
 * `npm run projections:status`: position, lag and version of each projection, as a table or with
 * `--json`.
 */
await runScript(async ({ engine, stores }) => {
  const { json = false } = optionsOf('projectionStatus', { json: { type: 'boolean' } });
  const status = await projectionStatus(projections, { ...stores, clock: engine.clock });
  if (json) {
    printJson(status);
    return;
  }
  printTable([columns, ...status.map(rowOf)]);
  for (const { name, parked } of status) {
    for (const { id, position } of parked)
      process.stdout.write(`${name}: document ${id} is parked at position ${String(position)}: it is too large for the store\n`);
  }
  for (const { failure } of status) if (failure !== null) process.stdout.write(`${failure.message}\n`);
});
