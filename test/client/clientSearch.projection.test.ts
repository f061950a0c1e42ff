import { describe, expect, test } from '@jest/globals';
import type { ClientEvent } from '../../src/events/client/client.events.js';
import { clientSearchProjection, type ClientSearchDocument } from '../../src/projections/client/clientSearch.projection.js';
import { recorded } from '../support/given.js';

const clientId = 'c1';
const before: ClientSearchDocument = { email: ['e1', 'both'], name: ['n1', 'both'], terms: ['e1', 'both', 'n1'] };

/** What the projection makes of an event whose encrypted fields have these terms. */
const evolve = (
  document: ClientSearchDocument | null,
  type: ClientEvent['type'],
  data: object,
  terms?: Readonly<Record<string, readonly string[]>>,
): ClientSearchDocument | null =>
  clientSearchProjection.evolve(
    document,
    recorded({ type, data: { clientId, ...data } } as ClientEvent, { revision: 7, stream: 'client-c1' }),
    terms,
  );

describe('the clientSearch projection', () => {
  test('ClientRegistered: the terms of address and name', () => {
    const terms = { email: ['e1', 'both'], name: ['n1', 'both'] };
    expect(evolve(null, 'ClientRegistered', { email: 'x', name: 'y' }, terms)).toStrictEqual(before);
  });

  test('ClientRegistered of somebody who was erased meanwhile: none', () => {
    expect(evolve(null, 'ClientRegistered', { email: 'x' }, {})).toStrictEqual({ email: [], name: [], terms: [] });
  });

  test('ClientRenamed: those of the new name', () => {
    expect(evolve(before, 'ClientRenamed', { name: 'z' }, { name: ['n2'] })).toStrictEqual({
      email: ['e1', 'both'],
      name: ['n2'],
      terms: ['e1', 'both', 'n2'],
    });
    expect(evolve(null, 'ClientRenamed', { name: 'z' }, { name: ['n2'] })).toBeNull();
  });

  test('ClientNameRemoved: those of the address alone', () => {
    expect(evolve(before, 'ClientNameRemoved', {})).toStrictEqual({
      email: ['e1', 'both'],
      name: [],
      terms: ['e1', 'both'],
    });
    expect(evolve(null, 'ClientNameRemoved', {})).toBeNull();
  });

  test('ClientEmailChanged: those of the new address', () => {
    expect(evolve(before, 'ClientEmailChanged', {}, { email: ['e2'] })).toStrictEqual({
      email: ['e2'],
      name: ['n1', 'both'],
      terms: ['e2', 'n1', 'both'],
    });
  });

  test.each(['ClientEmailChangeRequested', 'ClientEmailChangeWithdrawn'] as const)('%s: nothing yet', (type) => {
    expect(evolve(before, type, {})).toBe(before);
  });

  test('ClientErased: nothing is left', () => {
    expect(evolve(before, 'ClientErased', {})).toBeNull();
  });
});
