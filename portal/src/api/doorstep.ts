import { Doorstep, type DoorstepOptions } from '@doorstep/sdk';
import { reportStream } from '../live/connection.js';
import { base } from '../page.js';
import { accessToken } from '../session/session.js';
import { viewedAs } from '../session/viewAs.js';

/** Adds whose answers an admin looks at. */
const asViewed = (request: Request): Request => {
  if (viewedAs === null || request.method !== 'GET') return request;
  const url = new URL(request.url);
  url.searchParams.set('as', viewedAs);
  return new Request(url, request);
};

/** The service, as whoever is signed in, by requests that are sent in a way of their own. */
export const doorstepBy = (send: NonNullable<DoorstepOptions['fetch']>): Doorstep =>
  new Doorstep({ baseUrl: location.origin + base, token: accessToken, fetch: send });

/** The service, as whoever is signed in. */
export const doorstep = doorstepBy(async (request, init) => {
  const isStream = request.headers.get('accept') === 'text/event-stream';
  try {
    const answer = await fetch(asViewed(request), init);
    if (isStream) reportStream(answer.status);
    return answer;
  } catch (error) {
    if (isStream && init.signal?.aborted !== true) reportStream();
    throw error;
  }
});
