import { projections } from '../projections/catalogue.js';
import { projectionStatus, type StoredProjectionStatus } from '../projections/runner/status.js';
import { runScript } from './script.js';

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
  const status = await projectionStatus(projections, { ...stores, clock: engine.clock });
  if (process.argv.includes('--json')) {
    const plain = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
    process.stdout.write(`${JSON.stringify(status, plain, 2)}\n`);
    return;
  }
  const rows = [columns, ...status.map(rowOf)];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  for (const row of rows) {
    process.stdout.write(
      `${row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
  for (const { failure } of status) if (failure !== null) process.stdout.write(`${failure.message}\n`);
});
