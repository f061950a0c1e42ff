import { Type } from 'typebox';
import { event } from '../defineStream.js';

/** Stream `doorstep-log`. The event's id is the name of the log. */
export const logEvents = {
  LogNamed: event(Type.Object({})),
};
