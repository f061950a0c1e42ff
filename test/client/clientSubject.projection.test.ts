import { clientSubjectEvents } from '../../src/events/client/client.events.js';
import { clientSubjectProjection } from '../../src/projections/client/clientSubject.projection.js';
import { describeProjection } from '../support/projectionCases.js';

describeProjection(clientSubjectProjection, [clientSubjectEvents], {
  ClientSubjectBound: [
    { when: { clientId: 'c1', subject: 's1' }, then: { clientId: 'c1', subject: 's1' } },
    {
      shows: 'to another client',
      given: { clientId: 'c1', subject: 's1' },
      when: { clientId: 'c2', subject: 's1' },
      then: { clientId: 'c2', subject: 's1' },
    },
  ],
});
