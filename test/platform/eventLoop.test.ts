import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { nextTurnAlone } from '../../src/platform/eventLoop.js';

test('each turn of the event loop goes to one of those who want one alone, in their order', async () => {
  let turns = 0;
  const served: [who: number, inTurn: number][] = [];
  const all = Promise.all([1, 2, 3].map((who) => nextTurnAlone().then(() => served.push([who, turns]))));
  while (served.length < 3) {
    await turn();
    turns += 1;
  }
  await all;
  expect(served.map(([who]) => who)).toEqual([1, 2, 3]);
  expect(new Set(served.map(([, inTurn]) => inTurn)).size).toBe(3);
});
