import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  addClient,
  changeAccess,
  changeInvitation,
  removeClient,
  restoreClient,
} from '../../src/commands/access/access.handlers.js';
import { claimInvitation } from '../../src/commands/access/claim.handlers.js';
import { createClient } from '../../src/commands/client/client.handlers.js';
import { eraseClient } from '../../src/commands/erasure/erasure.handlers.js';
import type { CommandContext } from '../../src/commands/handleCommand.js';
import { Refused, refusals } from '../../src/commands/refusal.js';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { changeWebsite, createWebsite } from '../../src/commands/website/website.handlers.js';
import { EventStoreUnavailable } from '../../src/events/store/eventStore.js';
import { entityId } from '../../src/platform/ids.js';
import { clientIdOf, clientIdOfEmail } from '../../src/events/client/client.directory.js';
import { readClient } from '../../src/projections/client/client.queries.js';
import { clientActor, logOf, outcomes, planningOf, startEngine, type EngineProcess } from '../support/engineProcess.js';
import { after, unavailable, type AppendFault } from '../support/faultyEventStore.js';
import { noTargets } from '../support/erasable.js';
import { temporaryFolder } from '../support/temporary.js';
import { createTestClock, passTimeDuring, type TestClock } from '../support/testClock.js';
import { accessFold, type AccessState, linkRole } from '../../src/events/access/access.state.js';
import { invitationIdFor, keyOfInvitation, type AccessKey } from '../../src/events/access/access.stream.js';

const day = 24 * 3_600_000;
const email = 'anna@example.com';
const anna = { subject: 'anna-at-home', verifiedEmail: email, name: 'Anna' };

let clock: TestClock;
let local: EngineProcess;
let other: EngineProcess;
let websiteId: string;

beforeEach(async () => {
  clock = createTestClock();
  const folder = temporaryFolder();
  [local, other] = [await startEngine(clock, folder), await startEngine(clock, folder)];
  websiteId = await newWebsite('bakery');
});

const newWebsite = async (slug: string): Promise<string> => {
  const input = { name: slug, slug, templateId: 'business', tier: 'starter', collaborators: [] } as const;
  return (await createWebsite(local.engine, input, local.context())).websiteId;
};

/** Invites by address, and gives the invitation's id. */
const invite = async (to = email, website = websiteId): Promise<string> => {
  const { handled } = await addClient(local.engine, { websiteId: website, email: to, role: 'editor' }, local.context());
  return [...handled.state.invitations].find(([, { stage }]) => stage === 'pending')?.[0] ?? '';
};

type Claimed = { readonly websiteId: string; readonly clientId: string };

const claim = async (
  { engine, context }: EngineProcess,
  invitationId: string,
  who: { subject: string; verifiedEmail?: string | undefined } = anna,
  changes: Partial<CommandContext> = {},
): Promise<Claimed> => {
  const by = context({ actor: clientActor(who.subject), ...changes });
  const { websiteId: of, clientId } = await claimInvitation(engine, { invitationId, ...who }, by);
  return { websiteId: of, clientId };
};

const accessOf = async (clientId: string, website = websiteId): Promise<AccessState> =>
  (await local.engine.state(accessFold, { websiteId: website, clientId })).state;

const roleOf = async (clientId: string, website = websiteId): Promise<string | undefined> =>
  linkRole(await accessOf(clientId, website));

/** The person whose stream the invitation is in. */
const keyOf = (invitationId: string): AccessKey => {
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Error('this is no id of an invitation');
  return key;
};

const typesSince = async (length: number): Promise<readonly string[]> =>
  (await logOf(local)).slice(length).map(([, type]) => type);

describe('addClient', () => {
  test('links a client who is known, without an invitation', async () => {
    const clientId = await createClient(local.engine, { email }, local.context());
    const added = await addClient(other.engine, { websiteId, email, role: 'viewer' }, other.context());
    expect(added.clientId).toBe(clientId);
    expect(await accessOf(clientId)).toMatchObject({ link: 'viewer', invitations: new Map() });
  });

  test('invites an address that nobody is known by; once more: the same invitation', async () => {
    const invitationId = await invite();
    expect(invitationId).toMatch(new RegExp(`^[0-9a-z]{26}${websiteId}[0-9a-z]{26}$`));
    await clock.sleep(day);
    expect(await invite()).toBe(invitationId);
    expect((await accessOf(keyOf(invitationId).clientId)).invitations.size).toBe(1);
  });

  test('refuses the owner', async () => {
    const clientId = await createClient(local.engine, { email }, local.context());
    await changeWebsite(local.engine, { websiteId, clientId }, local.context());
    const adding = addClient(other.engine, { websiteId, email, role: 'viewer' }, other.context());
    await expect(adding).rejects.toEqual(new Refused(refusals.alreadyOwner()));
  });

  test('by many at once: one link, or one invitation', async () => {
    const addTwice = (to: string) =>
      [local, other].map(({ engine, context }) => addClient(engine, { websiteId, email: to, role: 'viewer' }, context()));
    await createClient(local.engine, { email }, local.context());
    const added = await passTimeDuring(clock, Promise.all([...addTwice(email), ...addTwice('berta@example.com')]));
    const people = [...new Set(added.map(({ clientId }) => clientId))];
    const states = await Promise.all(people.map((clientId) => accessOf(clientId)));
    expect(states.map((state) => [state.link, state.invitations.size])).toEqual([
      ['viewer', 0],
      ['none', 1],
    ]);
  });
});

describe('a claim', () => {
  test('makes the client, binds the subject to it and links it with the role of the invitation', async () => {
    const invitationId = await invite();
    const before = await logOf(local);
    const claimed = await claim(other, invitationId);
    expect(claimed.websiteId).toBe(websiteId);
    expect(claimed.clientId).toBe(keyOf(invitationId).clientId);
    expect(await typesSince(before.length)).toEqual([
      'ClientRegistered',
      'ClientSubjectBound',
      'ClientLinked',
      'InvitationAccepted',
    ]);
    const found = await readClient(local.engine, claimed.clientId);
    expect(found?.client).toMatchObject({ id: claimed.clientId, email, name: 'Anna' });
    expect(await clientIdOf(local.engine, anna.subject)).toBe(claimed.clientId);
    expect(await roleOf(claimed.clientId)).toBe('editor');
  });

  test('takes the client who is known by the address as it is', async () => {
    const invitationId = await invite();
    const clientId = await createClient(local.engine, { email, name: 'Anna B.' }, local.context());
    expect((await claim(other, invitationId)).clientId).toBe(clientId);
    expect((await readClient(local.engine, clientId))?.client.name).toBe('Anna B.');
  });

  test('takes the client that the subject is bound to, whatever address it was bound with', async () => {
    const { clientId } = await claim(local, await invite());
    const elsewhere = await newWebsite('studio');
    const invitationId = await invite('anna@work.example', elsewhere);
    const claimed = await claim(other, invitationId, { ...anna, verifiedEmail: 'anna@work.example' });
    expect(claimed).toEqual({ websiteId: elsewhere, clientId });
    expect(await clientIdOfEmail(local.engine, 'anna@work.example')).toBeUndefined();
  });

  test('again answers as the first did, and adds nothing', async () => {
    const invitationId = await invite();
    const first = await claim(local, invitationId);
    const before = await logOf(local);
    await clock.sleep(40 * day);
    expect(await claim(local, invitationId)).toEqual(first);
    expect(await claim(other, invitationId)).toEqual(first);
    expect(await typesSince(before.length)).toEqual([]);
  });

  test('again, after the access was taken away, does not give it back', async () => {
    const invitationId = await invite();
    const { clientId } = await claim(local, invitationId);
    await changeAccess(other.engine, { type: 'RemoveClient', websiteId, clientId }, other.context());
    await expect(claim(local, invitationId)).rejects.toEqual(new Refused(refusals.invitationNotFound(invitationId)));
    expect(await roleOf(clientId)).toBeUndefined();
  });

  test('a dry run returns what it would create, and creates nothing', async () => {
    const invitationId = await invite();
    const before = await logOf(local);
    const plan = planningOf(local);
    await claim(plan, invitationId);
    expect(plan.planned.map(({ type }) => type)).toEqual([
      'ClientRegistered',
      'ClientSubjectBound',
      'ClientLinked',
      'InvitationAccepted',
    ]);
    expect(await typesSince(before.length)).toEqual([]);
  });
});

describe('a claim by somebody who is known by another address', () => {
  const atWork = { ...anna, verifiedEmail: 'anna@work.example' };
  const accepted = (invitationId: string) => ({ invitations: new Map([[invitationId, { stage: 'accepted' }]]) });

  /** Anna as a client, and an invitation to the address at which she is none. */
  const start = async (): Promise<{ clientId: string; invitationId: string }> => {
    const { clientId } = await claim(local, await invite(email, await newWebsite('studio')));
    return { clientId, invitationId: await invite(atWork.verifiedEmail) };
  };

  test('ends the invitation in its own stream, and links the client that they are', async () => {
    const { clientId, invitationId } = await start();
    expect(keyOf(invitationId).clientId).not.toBe(clientId);
    expect(await claim(other, invitationId, atWork)).toEqual({ websiteId, clientId });
    expect(await accessOf(keyOf(invitationId).clientId)).toMatchObject({ link: 'none', ...accepted(invitationId) });
    expect(await roleOf(clientId)).toBe('editor');
    const before = await logOf(local);
    expect(await claim(local, invitationId, atWork)).toEqual({ websiteId, clientId });
    expect(await typesSince(before.length)).toEqual([]);
  });

  test.each(['that the claim made', 'that was there before'])('does not bring back a link %s', async (what) => {
    const { clientId, invitationId } = await start();
    if (what === 'that was there before') {
      await addClient(local.engine, { websiteId, email, role: 'viewer' }, local.context());
    }
    await claim(other, invitationId, atWork);
    expect(await roleOf(clientId)).toBe('editor');
    await changeAccess(local.engine, { type: 'RemoveClient', websiteId, clientId }, local.context());
    const again = claim(other, invitationId, atWork);
    await expect(again).rejects.toEqual(new Refused(refusals.invitationNotFound(invitationId)));
    expect(await roleOf(clientId)).toBeUndefined();
  });

  test('and that ended before the link was written is completed by the next one', async () => {
    const { clientId, invitationId } = await start();
    local.eventStore.appendFaults.push((append) => append(), unavailable);
    await expect(claim(local, invitationId, atWork)).rejects.toThrow(EventStoreUnavailable);
    expect(await accessOf(keyOf(invitationId).clientId)).toMatchObject(accepted(invitationId));
    expect(await roleOf(clientId)).toBeUndefined();
    expect(await claim(other, invitationId, atWork)).toEqual({ websiteId, clientId });
    expect(await roleOf(clientId)).toBe('editor');
  });

  test('and that ended before the link was written does not undo a removal since', async () => {
    const { clientId, invitationId } = await start();
    local.eventStore.appendFaults.push((append) => append(), unavailable);
    await expect(claim(local, invitationId, atWork)).rejects.toThrow(EventStoreUnavailable);
    await addClient(local.engine, { websiteId, email, role: 'viewer' }, local.context());
    await changeAccess(local.engine, { type: 'RemoveClient', websiteId, clientId }, local.context());
    const again = claim(other, invitationId, atWork);
    await expect(again).rejects.toEqual(new Refused(refusals.invitationNotFound(invitationId)));
    expect(await roleOf(clientId)).toBeUndefined();
  });

  test('who owns the website by then has no link', async () => {
    const { clientId, invitationId } = await start();
    other.eventStore.appendFaults.push(
      (append) => append(),
      after(() => changeWebsite(local.engine, { websiteId, clientId }, local.context())),
    );
    await expect(claim(other, invitationId, atWork)).rejects.toEqual(new Refused(refusals.alreadyOwner()));
    expect(await roleOf(clientId)).toBeUndefined();
  });
});

describe('a claim that is refused makes no client and binds nobody:', () => {
  const refused = async (invitationId: string, who: Parameters<typeof claim>[2], refusal: Refused['refusal']): Promise<void> => {
    const before = await logOf(local);
    await expect(claim(other, invitationId, who)).rejects.toEqual(new Refused(refusal));
    expect(await typesSince(before.length)).toEqual([]);
  };

  test.each([
    ['another address', { subject: 'eve', verifiedEmail: 'eve@example.com' }],
    ['an address that nobody vouches for', { subject: 'eve' }],
  ])('%s', async (_, who) => {
    await refused(await invite(), who, refusals.notYourInvitation());
  });

  test('a revoked invitation', async () => {
    const invitationId = await invite();
    await changeInvitation(local.engine, 'RevokeInvitation', { websiteId, invitationId }, local.context());
    await refused(invitationId, anna, refusals.invitationNotFound(invitationId));
  });

  test('an expired one', async () => {
    const invitationId = await invite();
    await clock.sleep(30 * day);
    await refused(invitationId, anna, refusals.invitationNotFound(invitationId));
  });

  test.each(['', 'x', '../clients', 'a'.repeat(52), 'a'.repeat(78)])(
    'an id that no invitation has: "%s"',
    async (invitationId) => {
      await refused(invitationId, anna, refusals.invitationNotFound(invitationId));
    },
  );

  test('one that was never issued', async () => {
    const unknown = invitationIdFor(entityId(local.engine.ids.commandId(), 'invitation'), keyOf(await invite()));
    await refused(unknown, anna, refusals.invitationNotFound(unknown));
  });

  test("the owner's own", async () => {
    const invitationId = await invite();
    const clientId = await createClient(local.engine, { email }, local.context());
    await changeWebsite(local.engine, { websiteId, clientId }, local.context());
    await refused(invitationId, anna, refusals.alreadyOwner());
  });

  test('one of an archived website; one that was taken up before still answers', async () => {
    const [first, second] = [await invite(), await invite('berta@example.com')];
    const claimed = await claim(local, first);
    await local.engine.handle(websiteDecider, { type: 'ArchiveWebsite', websiteId }, local.context());
    await refused(second, { subject: 'berta', verifiedEmail: 'berta@example.com' }, refusals.websiteArchived(websiteId));
    expect(await claim(other, first)).toEqual(claimed);
  });
});

describe('a claim that ended half-way', () => {
  const step = (name: string, position: number) => [name, position] as const;

  test.each([step('the client was made', 1), step('the subject was bound', 2)])(
    'after %s is completed by the next one, with the same client',
    async (_, written) => {
      const invitationId = await invite();
      const passes: AppendFault[] = Array.from({ length: written }, () => (append) => append());
      local.eventStore.appendFaults.push(...passes, unavailable);
      await expect(claim(local, invitationId)).rejects.toThrow(EventStoreUnavailable);
      const before = await logOf(local);
      const { clientId } = await claim(other, invitationId);
      expect(await typesSince(before.length)).toHaveLength(4 - written);
      expect((await readClient(local.engine, clientId))?.client.email).toBe(email);
      expect(await roleOf(clientId)).toBe('editor');
      const made = (await logOf(local)).filter(([, type]) => type === 'ClientRegistered');
      expect(made).toEqual([[`client-${clientId}`, 'ClientRegistered']]);
    },
  );
});

describe('at the same moment', () => {
  test('50 claims against 50 revocations: exactly one wins each time, and the answers say which', async () => {
    const rounds = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        // The rest of the website does not matter here: access has a stream of its own.
        const website = entityId(local.engine.ids.commandId(), 'website');
        const to = `guest-${index}@example.com`;
        return { website, index, invitationId: await invite(to, website), who: { subject: to, verifiedEmail: to } };
      }),
    );
    const race = async ({ website, index, invitationId, who }: (typeof rounds)[number]): Promise<'claimed' | 'revoked'> => {
      const [claimer, admin] = index % 2 === 0 ? [local, other] : [other, local];
      const revoke = async (): Promise<string> => {
        // Somewhere in the middle of the claim.
        for (let turns = 0; turns < index; turns += 1) await new Promise<void>((resolve) => setImmediate(resolve));
        await changeInvitation(admin.engine, 'RevokeInvitation', { websiteId: website, invitationId }, admin.context());
        return 'revoked';
      };
      const claiming = claim(claimer, invitationId, who).then(({ clientId }) => clientId);
      const { values, refusals: refused } = await outcomes([claiming, revoke()]);
      expect([values.length, refused]).toEqual([1, [refusals.invitationNotFound(invitationId)]]);

      const { clientId } = keyOf(invitationId);
      const { link, invitations } = await accessOf(clientId, website);
      const winner = values[0] === 'revoked' ? 'revoked' : 'claimed';
      expect(invitations.get(invitationId)?.stage).toBe(winner === 'claimed' ? 'accepted' : 'revoked');
      expect([values[0], link]).toEqual(winner === 'claimed' ? [clientId, 'editor'] : ['revoked', 'none']);
      return winner;
    };
    const winners = await passTimeDuring(clock, Promise.all(rounds.map(race)));
    expect(winners).toHaveLength(50);
    // Otherwise nothing was tried.
    expect(new Set(winners)).toEqual(new Set(['claimed', 'revoked']));
  });

  test('claims of one invitation: one client, one link, and every answer the same', async () => {
    const invitationId = await invite();
    const before = await logOf(local);
    const claimed = await passTimeDuring(
      clock,
      Promise.all([local, other, local, other].map((process) => claim(process, invitationId))),
    );
    expect(new Set(claimed.map(({ clientId }) => clientId)).size).toBe(1);
    expect([...(await typesSince(before.length))].sort()).toEqual([
      'ClientLinked',
      'ClientRegistered',
      'ClientSubjectBound',
      'InvitationAccepted',
    ]);
  });

  test('a claim here and another website there: one client, linked to both', async () => {
    const elsewhere = await newWebsite('studio');
    const [here, there] = [await invite(), await invite(email, elsewhere)];
    const [first, second] = await passTimeDuring(clock, Promise.all([claim(local, here), claim(other, there)]));
    expect(second.clientId).toBe(first.clientId);
    expect(await roleOf(first.clientId)).toBe('editor');
    expect(await roleOf(first.clientId, elsewhere)).toBe('editor');
  });

  test('an invitation is claimed just before it is renewed: nothing is left to claim after a removal', async () => {
    const invitationId = await invite();
    local.eventStore.appendFaults.push(after(() => claim(other, invitationId)));
    const adding = addClient(local.engine, { websiteId, email, role: 'viewer' }, local.context());
    const { clientId } = await passTimeDuring(clock, adding);
    expect([...(await accessOf(clientId)).invitations.values()].map(({ stage }) => stage)).toEqual(['accepted']);
    expect(await roleOf(clientId)).toBe('viewer');
  });

  test('a client is erased just before they are added: their address is not written down anew', async () => {
    const clientId = await createClient(local.engine, { email }, local.context());
    const { personal } = local.engine;
    const findTargets = () => Promise.resolve(noTargets);
    const engine = {
      ...local.engine,
      personal: {
        ...personal,
        encrypt: async (...text: Parameters<typeof personal.encrypt>) => {
          await eraseClient(other.engine, { findTargets }, clientId, other.context());
          return personal.encrypt(...text);
        },
      },
    };
    const adding = addClient(engine, { websiteId, email, role: 'viewer' }, local.context());
    await expect(adding).rejects.toEqual(new Refused(refusals.clientNotFound(clientId)));
    expect((await accessOf(clientId)).invitations.size).toBe(0);
  });

  describe('an owner is assigned', () => {
    const register = (): Promise<string> => createClient(local.engine, { email }, local.context());
    const add = () => addClient(local.engine, { websiteId, email, role: 'viewer' }, local.context());
    const assign = (clientId: string) => changeWebsite(other.engine, { websiteId, clientId }, other.context());
    const isLinked = async (clientId: string): Promise<boolean> => (await roleOf(clientId)) !== undefined;

    test('just before a link is written: it goes again, and the answer says why', async () => {
      const clientId = await register();
      local.eventStore.appendFaults.push(after(() => assign(clientId)));
      await expect(add()).rejects.toEqual(new Refused(refusals.alreadyOwner()));
      expect(await isLinked(clientId)).toBe(false);
    });

    test('just before a claim is written: likewise', async () => {
      const invitationId = await invite();
      const clientId = await register();
      const binding: AppendFault = (append) => append();
      local.eventStore.appendFaults.push(
        binding,
        after(() => assign(clientId)),
      );
      const claiming = passTimeDuring(clock, claim(local, invitationId));
      await expect(claiming).rejects.toEqual(new Refused(refusals.alreadyOwner()));
      expect(await isLinked(clientId)).toBe(false);
    });

    test('just after a link is written: it goes', async () => {
      const clientId = await register();
      other.eventStore.appendFaults.push(after(add));
      await assign(clientId);
      expect(await isLinked(clientId)).toBe(false);
    });

    test('just before a removal is undone: the link goes again, and the answer says why', async () => {
      const clientId = await register();
      const key = { websiteId, clientId };
      await add();
      await removeClient(local.engine, key, local.context());
      local.eventStore.appendFaults.push(after(() => assign(clientId)));
      const undoing = restoreClient(local.engine, key, local.context());
      await expect(undoing).rejects.toEqual(new Refused(refusals.alreadyOwner()));
      expect(await isLinked(clientId)).toBe(false);
    });

    test('in a dry run: returned as planned, but not removed', async () => {
      const clientId = await register();
      await add();
      const { engine, planned } = other.engine.plan();
      await changeWebsite(engine, { websiteId, clientId }, other.context());
      expect(planned.map(({ type }) => type)).toEqual(['WebsiteOwnerAssigned', 'ClientUnlinked']);
      expect(await isLinked(clientId)).toBe(true);
    });
  });
});
