import { describe, expect, test } from '@jest/globals';
import { blueprintDecider, maxNodeIdLength, maxNodes } from '../../src/commands/blueprint/blueprint.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { BlueprintEvent, NodePosition } from '../../src/events/blueprint/blueprint.events.js';
import { expectRepeatable, given as givenEvents, stateAfter } from '../support/given.js';

const arrange = (...nodes: readonly NodePosition[]) => ({ type: 'ArrangeBlueprint', websiteId: 'w1', nodes }) as const;
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
    for (const moved of [
      { ...hosting, x: 241 },
      { ...hosting, y: -121 },
    ]) {
      given(arranged(website, hosting))
        .when(arrange(website, moved))
        .then([arranged(website, moved)]);
    }
    expect(stateAfter(blueprintDecider, [arranged(website), arranged(hosting)])).toEqual({ positions: [hosting] });
  });

  test('stays as it is when the same is sent, in any order', () => {
    given(arranged(website, hosting)).when(arrange(hosting, website)).then([]);
    given().when(arrange()).then([]);
    expectRepeatable(blueprintDecider, [], arrange(hosting));
  });

  test('keeps nodes that are no parts', () => {
    const garden = { id: 'garden', x: 1, y: 2 };
    given()
      .when(arrange(website, garden))
      .then([arranged(website, garden)]);
  });

  test('that differs only in the text of an id is another', () => {
    const [one, other] = [
      { id: 'a', x: 1, y: 2 },
      { id: 'b', x: 3, y: 4 },
    ];
    const both = { id: 'a 1 2\nb', x: 3, y: 4 };
    given(arranged(one, other))
      .when(arrange(both))
      .then([arranged(both)]);
  });

  test('has each node once, and so many, with ids of such a length', () => {
    given()
      .when(arrange(website, hosting, hosting, { ...hosting, id: 'x'.repeat(maxNodeIdLength + 1) }))
      .thenRefused(
        refusals.invalidBody('nodes.2.id', 'is there twice', [
          { field: 'nodes.3.id', issue: 'must have at most 300 characters' },
        ]),
      );
    const longest = { ...hosting, id: 'x'.repeat(maxNodeIdLength) };
    given()
      .when(arrange(longest))
      .then([arranged(longest)]);
    const nodes = Array.from({ length: maxNodes + 1 }, (_, index) => ({ ...hosting, id: `node-${String(index)}` }));
    given()
      .when(arrange(...nodes))
      .thenRefused(refusals.invalidBody('nodes', 'must have at most 200 entries'));
    given()
      .when(arrange(...nodes.slice(1)))
      .then([arranged(...nodes.slice(1))]);
  });
});
