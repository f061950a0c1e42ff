import { describe, expect, test } from '@jest/globals';
import { contentDecider } from '../../src/commands/content/content.decider.js';
import type { SaveContent } from '../../src/commands/content/content.commands.js';
import { refusals } from '../../src/commands/refusal.js';
import type { ContentEvent } from '../../src/events/content/content.events.js';
import { contentFold } from '../../src/events/content/content.state.js';
import { earlier, expectRepeatable, given as givenEvents, someAdmin, stateAfter } from '../support/given.js';

const ofDocument = { websiteId: 'w1', collection: 'content', documentId: 'company' } as const;
const saved = (hash: string): ContentEvent => ({ type: 'ContentSaved', data: { ...ofDocument, hash, body: { text: hash } } });
const save = (hash: string, baseHash: string | null, initialHash?: string) =>
  ({
    type: 'SaveContent',
    ...ofDocument,
    hash,
    body: { text: hash },
    bytes: 10,
    room: 10,
    baseHash,
    ...(initialHash !== undefined && { initialHash }),
  }) satisfies Omit<SaveContent, 'at'>;
const restore = (hash: string, baseHash: string | null) =>
  ({ type: 'RestoreContent', ...ofDocument, hash, body: { text: hash }, bytes: 10, room: 10, baseHash }) as const;
const restored = (hash: string): ContentEvent => ({
  type: 'ContentRestored',
  data: { ...ofDocument, hash, body: { text: hash } },
});
const publish = (hash: string, revision?: number) =>
  ({ type: 'RecordContentPublished', ...ofDocument, hash, commit: 'c1', ...(revision !== undefined && { revision }) }) as const;
const published = (hash: string, revision?: number): ContentEvent => ({
  type: 'ContentPublished',
  data: { ...ofDocument, hash, commit: 'c1', ...(revision !== undefined && { revision }) },
});

const given = (events: readonly ContentEvent[] = []) => givenEvents(contentDecider, events);
const by = (hash: string) => ({ hash, at: earlier, actor: someAdmin });

describe('a content document', () => {
  test('is created where there is none', () => {
    given()
      .when(save('a', null))
      .then([saved('a')]);
  });

  test('is created over what the repository holds', () => {
    given()
      .when(save('a', 'initial', 'initial'))
      .then([saved('a')]);
    given()
      .when(save('a', null, 'initial'))
      .then([saved('a')]);
  });

  test('is saved over the version that was seen', () => {
    given([saved('a')])
      .when(save('b', 'a'))
      .then([saved('b')]);
  });

  test('is not saved over a version that was not', () => {
    given([saved('a'), saved('b')])
      .when(save('c', 'a'))
      .thenRefused(refusals.stale(by('b')));
    given([saved('a')])
      .when(save('c', null))
      .thenRefused(refusals.stale(by('a')));
    given([saved('a')])
      .when(save('c', 'initial', 'initial'))
      .thenRefused(refusals.stale(by('a')));
  });

  test('is not saved over a version that never was', () => {
    given().when(save('a', 'b')).thenRefused(refusals.stale(null));
    given()
      .when(save('a', 'b', 'initial'))
      .thenRefused(refusals.stale({ hash: 'initial' }));
  });

  test('that holds what is saved is left as it is', () => {
    given([saved('a')])
      .when(save('a', 'a'))
      .then([]);
    given([saved('a')])
      .when(save('a', null))
      .then([]);
  });

  test('gets an earlier version back', () => {
    given([saved('a'), saved('b')])
      .when(restore('a', 'b'))
      .then([restored('a')]);
  });

  test('gets back no version that there was not, and none over one that was not seen', () => {
    given([saved('a')])
      .when(restore('x', 'a'))
      .thenRefused(refusals.contentVersionNotFound('x', 'company'));
    given([saved('a'), saved('b'), saved('c')])
      .when(restore('a', 'b'))
      .thenRefused(refusals.stale(by('c')));
    given().when(restore('a', null)).thenRefused(refusals.contentNotFound('company'));
  });

  test('that is larger than there is room for is neither saved nor restored', () => {
    given()
      .when({ ...save('a', null), room: 9 })
      .thenRefused(refusals.contentLimitReached());
    given([saved('a'), saved('b')])
      .when({ ...restore('a', 'b'), room: 9 })
      .thenRefused(refusals.contentLimitReached());
    given([saved('a')])
      .when({ ...save('a', 'a'), room: 9 })
      .then([]);
    given([saved('a'), saved('b')])
      .when({ ...save('c', 'a'), room: 9 })
      .thenRefused(refusals.stale(by('b')));
  });

  test('keeps its last hundred versions within reach', () => {
    const events = Array.from({ length: 101 }, (_, index) => saved(`v${String(index)}`));
    const last = 'v100';
    given(events).when(restore('v0', last)).thenRefused(refusals.contentVersionNotFound('v0', 'company'));
    given(events)
      .when(restore('v1', last))
      .then([restored('v1')]);
    const state = stateAfter(contentFold, events);
    expect(state.stage === 'saved' && state.versions.length).toBe(100);
  });

  test('is published once', () => {
    given([saved('a')])
      .when(publish('a'))
      .then([published('a')]);
    given([saved('a'), published('a')])
      .when(publish('a'))
      .then([]);
    given([saved('a'), published('a'), saved('b')])
      .when(publish('b'))
      .then([published('b')]);
    given([saved('a'), published('a', 0)])
      .when(publish('a'))
      .then([]);
    given().when(publish('a')).then([]);
  });

  test('that was published is not what an earlier publication put there, whose record comes late', () => {
    const overtaken = [saved('a'), saved('b'), published('b', 1)];
    given(overtaken).when(publish('a', 0)).then([]);
    given([...overtaken, restored('a')])
      .when(publish('a', 0))
      .then([]);
    given([...overtaken, restored('a')])
      .when(publish('a', 3))
      .then([published('a', 3)]);
  });

  test('that is published again, as it was before, is known to be', () => {
    const again = [saved('a'), published('a', 0), saved('b'), restored('a')];
    given(again)
      .when(publish('a', 3))
      .then([published('a', 3)]);
    given([...again, published('a', 3)])
      .when(publish('b', 2))
      .then([]);
  });

  test.each([
    ['created', [], save('a', null)],
    ['saved', [saved('a')], save('b', 'a')],
    ['restored', [saved('a'), saved('b')], restore('a', 'b')],
    ['published', [saved('a')], publish('a')],
    ['published as of a revision', [saved('a')], publish('a', 0)],
  ] as const)('%s twice is the same', (_, events, command) => {
    expectRepeatable(contentDecider, [...events], command);
  });
});
