import { Type } from 'typebox';
import { event } from '../definition.js';

/** Its one event is what tells the log apart from every other. */
export const logStream = 'doorstep-log';

/** Stream `doorstep-log`. The event's id is the name of the log. */
export const logEvents = {
  LogNamed: event(Type.Object({})),
};
