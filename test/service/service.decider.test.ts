import { describe, expect, test } from '@jest/globals';
import { serviceDecider } from '../../src/commands/service/service.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { ServiceEvent } from '../../src/events/service/service.events.js';
import { earlier, expectRepeatable, given as givenEvents, recorded, stateAfter } from '../support/given.js';

const shopDomain = 'corner-bakery.myshopify.com';
const ofShop = { websiteId: 'w1', serviceId: 's1', kind: 'commerce' } as const;
const attach = { type: 'AttachService', ...ofShop, shopDomain, secretNames: ['adminToken'] } as const;
const attached: ServiceEvent = { type: 'ServiceAttached', data: { ...ofShop, shopDomain, secretNames: ['adminToken'] } };
const detach = { type: 'DetachService', websiteId: 'w1', serviceId: 's1' } as const;
const detached = (reason: 'deleted' | 'replaced' | 'uninstalled'): ServiceEvent => ({
  type: 'ServiceDetached',
  data: { ...ofShop, reason },
});
const uninstall = { type: 'RecordUninstall', websiteId: 'w1', shopDomain, triggeredAt: earlier } as const;

const given = (events: readonly ServiceEvent[] = []) => givenEvents(serviceDecider, events);

describe('a service', () => {
  test('is attached', () => {
    given().when(attach).then([attached]);
    const analytics = { websiteId: 'w1', serviceId: 's2', kind: 'analytics', siteId: 'bakery.example', secretNames: [] } as const;
    given([attached])
      .when({ type: 'AttachService', ...analytics })
      .then([{ type: 'ServiceAttached', data: { ...analytics, secretNames: [] } }]);
    const scheduling = { websiteId: 'w1', serviceId: 's3', kind: 'scheduling', eventTypeIds: [7], secretNames: [] } as const;
    given()
      .when({ type: 'AttachService', ...scheduling })
      .then([{ type: 'ServiceAttached', data: { ...scheduling, eventTypeIds: [7], secretNames: [] } }]);
  });

  test('takes the place of the one of its kind', () => {
    given([attached])
      .when({ ...attach, serviceId: 's2' })
      .then([detached('replaced'), { type: 'ServiceAttached', data: { ...attached.data, serviceId: 's2' } }]);
  });

  test('is taken away', () => {
    given([attached])
      .when(detach)
      .then([detached('deleted')]);
    given().when(detach).thenRefused(refusals.serviceNotFound('s1'));
  });

  test.each([
    ['attach', [], attach],
    ['detach', [attached], detach],
    ['uninstall', [attached], uninstall],
  ] as const)('%s: the same again changes nothing', (_, events, command) => {
    expectRepeatable(serviceDecider, events, command);
  });

  test('is taken away from beside another one, which stays', () => {
    const analytics = { websiteId: 'w1', serviceId: 's2', kind: 'analytics' } as const;
    const other: ServiceEvent = { type: 'ServiceAttached', data: { ...analytics, siteId: 'bakery.example', secretNames: [] } };
    const detachOther = { ...detach, serviceId: 's2' };
    const otherDetached: ServiceEvent = { type: 'ServiceDetached', data: { ...analytics, reason: 'deleted' } };
    given([attached, other])
      .when(detach)
      .then([detached('deleted')]);
    given([attached, other]).when(detachOther).then([otherDetached]);
    given([attached, other, detached('deleted')])
      .when(detachOther)
      .then([otherDetached]);
    const { services } = stateAfter(serviceDecider, [attached, other, detached('deleted')]);
    expect(services).toEqual([{ serviceId: 's2', kind: 'analytics', attachedAt: earlier }]);
  });

  test('is not attached again by a repetition that comes after it was taken away', () => {
    given([attached, detached('deleted')])
      .when(attach)
      .then([]);
  });
});

describe('an uninstalled app', () => {
  test('takes the service of its shop away', () => {
    given([attached])
      .when(uninstall)
      .then([detached('uninstalled')]);
  });

  test.each([
    ['a service that was attached since', { ...uninstall, triggeredAt: '2025-12-31T23:59:59.999Z' }],
    ['the service of another shop', { ...uninstall, shopDomain: 'other.myshopify.com' }],
  ])('leaves %s alone', (_, command) => {
    given([attached]).when(command).then([]);
  });
});

test('every shop there ever was is remembered', () => {
  const again = recorded<ServiceEvent>({ type: 'ServiceAttached', data: { ...attached.data, serviceId: 's2' } }, { revision: 2 });
  const { shops, services } = stateAfter(serviceDecider, [attached, detached('uninstalled')]);
  expect({ shops, services }).toStrictEqual({ shops: [shopDomain], services: [] });
  expect(stateAfter(serviceDecider, [attached, detached('uninstalled'), again]).shops).toStrictEqual([shopDomain]);
});
