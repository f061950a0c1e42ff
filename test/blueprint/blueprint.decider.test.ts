import { describe, expect, test } from '@jest/globals';
import { blueprintDecider } from '../../src/commands/blueprint/blueprint.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { BlueprintEvent, NodePosition } from '../../src/events/blueprint/blueprint.events.js';
import { expectRepeatable, given as givenEvents, stateAfter } from '../support/given.js';

const known = ['website', 'hosting'];
const arrange = (...nodes: readonly NodePosition[]) => ({ type: 'ArrangeBlueprint', websiteId: 'w1', nodes, known }) as const;
const arranged = (...nodes: NodePosition[]): BlueprintEvent => ({ type: 'BlueprintArranged', data: { websiteId: 'w1', nodes } });
const [website, hosting] = [
  { id: 'website', x: 0, y: 0 },
  { id: 'hosting', x: 240.5, y: -120 },
];
const given = (...events: readonly BlueprintEvent[]) => givenEvents(blueprintDecider, events);

describe('a blueprint', () => {
  test('is arranged, as a whole', () => {
    given()
      .when(arrange(website, hosting))
      .then([arranged(website, hosting)]);
    given(arranged(website, hosting))
      .when(arrange(hosting))
      .then([arranged(hosting)]);
    given(arranged(hosting)).when(arrange()).then([arranged()]);
    expect(stateAfter(blueprintDecider, [arranged(website), arranged(hosting)])).toEqual({ positions: [hosting] });
  });

  test('stays as it is when the same is sent, in any order', () => {
    given(arranged(website, hosting)).when(arrange(hosting, website)).then([]);
    given().when(arrange()).then([]);
    expectRepeatable(blueprintDecider, [], arrange(hosting));
  });

  test('has no other nodes, and each once', () => {
    given()
      .when(arrange(website, { ...hosting, id: 'garden' }, hosting, hosting))
      .thenRefused(
        refusals.invalidBody('nodes.1.id', 'is no node of this blueprint; reading it tells which there are', [
          { field: 'nodes.3.id', issue: 'is there twice' },
        ]),
      );
  });
});
