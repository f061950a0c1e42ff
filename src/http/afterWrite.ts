import type { Answer, RouteRequest } from './route.js';

/** What a write answers with. A dry run has written nothing that could be read back: there the router answers with the planned events. */
export const afterWrite = (request: Pick<RouteRequest, 'context'>, answer: () => Promise<Answer>): Promise<Answer> =>
  request.context.planned === undefined ? answer() : Promise.resolve({});
