import { toolsets, type Toolset } from './tool.js';

/**
 * Reads a list of toolsets: `delivery,access`; `all` or nothing means all.
 * @throws Error that names the one that there is not
 */
export const parseToolsets = (list: string | undefined): readonly Toolset[] | undefined => {
  const names = (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0 || names.includes('all')) return undefined;
  return names.map((name) => {
    const found = toolsets.find((toolset) => toolset === name);
    if (found === undefined) throw new Error(`There is no toolset ${JSON.stringify(name)}. Use some of: ${toolsets.join(', ')}.`);
    return found;
  });
};
