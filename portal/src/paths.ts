import { generatePath } from 'react-router';
import paths from './paths.json';

export { paths };

/** The name of a page. */
export type PageName = keyof typeof paths;

/** The address of a page, below `/app`. */
export const pathTo = (page: PageName, params: Readonly<Record<string, string>> = {}): string =>
  generatePath(paths[page], params);
