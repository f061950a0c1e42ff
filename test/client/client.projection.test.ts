import { clientEvents } from '../../src/events/client/client.events.js';
import { clientProjection } from '../../src/projections/client/client.projection.js';
import { earlier } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const clientId = 'c1';
const email = 'anna@example.com';
const later = '2030-01-01T00:00:00.000Z';

describeProjection(clientProjection, [clientEvents], {
  ClientRegistered: [
    {
      shows: 'with a name',
      when: { clientId, email, name: 'Anna' },
      then: { id: clientId, email, name: 'Anna', createdAt: happened },
    },
    { shows: 'without one', when: { clientId, email }, then: { id: clientId, email, createdAt: happened } },
  ],
  ClientRenamed: [
    {
      given: { id: clientId, email, name: 'Anna', createdAt: earlier },
      when: { clientId, name: 'Anna B.' },
      then: { id: clientId, email, name: 'Anna B.', createdAt: earlier },
    },
    {
      shows: 'of one that had no name',
      given: { id: clientId, email, createdAt: earlier },
      when: { clientId, name: 'Anna' },
      then: { id: clientId, email, name: 'Anna', createdAt: earlier },
    },
  ],
  ClientNameRemoved: [
    {
      given: { id: clientId, email, name: 'Anna', createdAt: earlier },
      when: { clientId },
      then: { id: clientId, email, createdAt: earlier },
    },
  ],
  ClientEmailChangeRequested: [
    {
      given: { id: clientId, email, createdAt: earlier },
      when: { clientId, changeId: 'ch1', email: 'anna@example.org', expiresAt: later },
      then: { id: clientId, email, createdAt: earlier, pendingEmail: 'anna@example.org', pendingEmailExpiresAt: later },
    },
  ],
  ClientEmailChangeWithdrawn: [
    {
      given: { id: clientId, email, createdAt: earlier, pendingEmail: 'anna@example.org', pendingEmailExpiresAt: later },
      when: { clientId, changeId: 'ch1' },
      then: { id: clientId, email, createdAt: earlier },
    },
  ],
  ClientEmailChanged: [
    {
      given: { id: clientId, email, name: 'Anna', createdAt: earlier, pendingEmail: 'x', pendingEmailExpiresAt: later },
      when: { clientId, changeId: 'ch1', email: 'anna@example.org', formerEmail: email },
      then: { id: clientId, email: 'anna@example.org', name: 'Anna', createdAt: earlier },
    },
  ],
  ClientErased: [{ given: { id: clientId, email, name: 'Anna', createdAt: earlier }, when: { clientId }, then: null }],
});
