import { defineStream } from '../defineStream.js';
import { logEvents } from './log.events.js';

/** There is one log, and so one stream. */
export const logStream = defineStream({
  category: 'doorstep',
  key: () => 'log',
  named: 'log',
  holds: 'one event, whose id is the identity of this log',
  guards: 'read models belong to one log',
  events: logEvents,
  personal: {},
});
