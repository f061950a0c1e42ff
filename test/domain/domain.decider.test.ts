import { describe, expect, test } from '@jest/globals';
import { domainDecider } from '../../src/commands/domain/domain.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { DomainEvent, DomainRecord } from '../../src/events/domain/domain.events.js';
import { expectRepeatable, given as givenEvents, stateAfter } from '../support/given.js';

const domain = 'www.bakery.example';
const proof = { name: `_doorstep.${domain}`, value: 'mine', found: false };
const of = (websiteId: string) => ({ websiteId, domain });
const add = (websiteId: string) => ({ type: 'AddDomain', ...of(websiteId), kept: 0, proof }) as const;
const added = (websiteId: string): DomainEvent => ({ type: 'DomainAdded', data: of(websiteId) });
const record = (found: boolean): DomainRecord => ({
  ...{ type: 'TXT', name: proof.name, value: 'mine', purpose: 'ownership', found },
});
const address = (found: boolean): DomainRecord => ({
  ...{ type: 'A', name: domain, value: '192.0.2.1', purpose: 'address', found },
});
const check = (websiteId: string, ...records: DomainRecord[]) =>
  ({ type: 'RecordDomainCheck', ...of(websiteId), records }) as const;
const verified = (websiteId: string, ...records: DomainRecord[]): DomainEvent => ({
  ...{ type: 'DomainVerified', data: { ...of(websiteId), records } },
});
const checked = (websiteId: string, ...records: DomainRecord[]): DomainEvent => ({
  ...{ type: 'DomainChecked', data: { ...of(websiteId), records } },
});
const remove = (websiteId: string) => ({ type: 'RemoveDomain', ...of(websiteId), reason: 'deleted' }) as const;
const removed = (
  websiteId: string,
  reason: Extract<DomainEvent, { type: 'DomainRemoved' }>['data']['reason'] = 'deleted',
): DomainEvent => ({ type: 'DomainRemoved', data: { ...of(websiteId), reason } });
const given = (...events: readonly DomainEvent[]) => givenEvents(domainDecider, events);
/** A week after the given events. */
const lapse = '2026-01-08T00:00:00.000Z';

describe('a domain', () => {
  test('is added to one website, again after it was removed', () => {
    given()
      .when(add('w1'))
      .then([added('w1')]);
    given(added('w1'), removed('w1'))
      .when(add('w2'))
      .then([added('w2')]);
  });

  test('that another website has verified is taken, for ever', () => {
    given(added('w1'), verified('w1', record(true)))
      .when({ ...add('w2'), at: '2036-01-01T00:00:00.000Z', proof: { ...proof, found: true } })
      .thenRefused(refusals.domainTaken());
  });

  test('that another website has not verified is taken for a week, and says what proves that it is theirs', () => {
    const almost = given(added('w1')).when({ ...add('w2'), at: '2026-01-07T23:59:59.999Z' });
    almost.thenRefused(refusals.domainTaken(proof));
    expect(almost.outcome).toMatchObject({
      message: 'domain already exists',
      details: [{ field: 'domain', issue: expect.stringContaining('set the TXT record _doorstep.www.bakery.example to mine') }],
    });
    given(added('w1'))
      .when({ ...add('w2'), at: lapse })
      .then([removed('w1', 'lapsed'), added('w2')]);
  });

  test('goes from a website that has not verified it to the one that proves it', () => {
    given(added('w1'))
      .when({ ...add('w2'), proof: { ...proof, found: true } })
      .then([removed('w1', 'provenElsewhere'), added('w2')]);
  });

  test('is refused to a website with as many as there may be, but not one that it has', () => {
    const full = { ...add('w1'), kept: 50 };
    given().when(full).thenRefused(refusals.tooManyDomains());
    given()
      .when({ ...full, kept: 49 })
      .then([added('w1')]);
    given(added('w1')).when(full).then([]);
    given(added('w2'))
      .when({ ...full, at: lapse })
      .thenRefused(refusals.tooManyDomains());
  });
});

describe('a check', () => {
  test('verifies with the ownership record alone, whatever leads to the website', () => {
    given(added('w1'))
      .when(check('w1', record(true), address(false)))
      .then([verified('w1', record(true), address(false))]);
    given(added('w1'))
      .when(check('w1', record(false), address(true)))
      .then([checked('w1', record(false), address(true))]);
  });

  test('records what is different from before, and takes no verification away', () => {
    const before = [added('w1'), verified('w1', record(true), address(false))];
    given(...before)
      .when(check('w1', record(false), address(true)))
      .then([checked('w1', record(false), address(true))]);
    expect(stateAfter(domainDecider, [...before, checked('w1', record(false))])).toMatchObject({ stage: 'verified' });
    given(...before)
      .when(check('w1', record(true), address(false)))
      .then([]);
  });

  test('of a domain that another website has, or none, is refused', () => {
    for (const events of [[], [added('w2')], [added('w1'), removed('w1')]]) {
      given(...events)
        .when(check('w1', record(true)))
        .thenRefused(refusals.domainNotFound());
    }
  });
});

describe('a removal', () => {
  test('frees a domain, verified or not', () => {
    given(added('w1'))
      .when(remove('w1'))
      .then([removed('w1')]);
    given(added('w1'), verified('w1', record(true)))
      .when({ ...remove('w1'), reason: 'websiteDeleted' })
      .then([removed('w1', 'websiteDeleted')]);
  });

  test('of a domain that the website does not have is refused', () => {
    for (const events of [[], [added('w2')], [added('w2'), removed('w2')]]) {
      given(...events)
        .when(remove('w1'))
        .thenRefused(refusals.domainNotFound());
    }
  });
});

test.each([
  ['add', [], add('w1')],
  ['take over', [added('w2')], { ...add('w1'), at: lapse }],
  ['verify', [added('w1')], check('w1', record(true))],
  ['check', [added('w1'), verified('w1', record(true))], check('w1', record(false))],
  ['remove', [added('w1')], remove('w1')],
] as const)('%s: the same again changes nothing', (_, events, command) => {
  expectRepeatable(domainDecider, events, command);
});
