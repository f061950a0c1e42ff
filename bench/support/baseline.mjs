/** What the figures were when they were last written down (`bench/baseline.json`). */
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * @typedef {import('./figures.mjs').Figure} Figure
 * @typedef {Record<string, { value: number, unit: string, writtenOn: string, machine: string }>} Baseline
 *   by the name of the figure; each with its day and machine, since a run may measure some only
 */

const file = new URL('../baseline.json', import.meta.url);

/** @returns {Baseline} */
const read = () => {
  /** @type {Baseline} */
  const baseline = JSON.parse(readFileSync(file, 'utf8'));
  return baseline;
};

/**
 * The value that each figure had; `undefined` for one that was not written down in the same unit.
 * @param {readonly Figure[]} figures
 */
export const baselineOf = (figures) => {
  const baseline = read();
  return figures.map(({ name, unit }) => (baseline[name]?.unit === unit ? baseline[name].value : undefined));
};

/**
 * Writes the values of these figures, and leaves the others as they are.
 * @param {readonly Figure[]} figures
 * @param {{ node: string, processors: string }} machine
 */
export const writeBaseline = (figures, { node, processors }) => {
  const writtenOn = new Date().toISOString().slice(0, 10);
  const measured = figures.map(({ name, value, unit }) => [
    name,
    { value: Number(value.toPrecision(3)), unit, writtenOn, machine: `${processors}, Node ${node}` },
  ]);
  writeFileSync(file, `${JSON.stringify({ ...read(), ...Object.fromEntries(measured) }, null, 2)}\n`);
};
