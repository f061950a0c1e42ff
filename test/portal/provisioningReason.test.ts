import { expect, test } from '@jest/globals';
import { withoutStep } from '../../portal/src/features/provisioning/reason.js';

test.each([
  ['vercel_initial_deploy: Not finished within 24 hours', 'vercel_initial_deploy', 'Not finished within 24 hours'],
  ['GitHub refused: vercel_initial_deploy: no', 'vercel_initial_deploy', 'GitHub refused: vercel_initial_deploy: no'],
  ['A reason: without its step', '', 'A reason: without its step'],
])('the reason of a run, %s at %p, is shown without the step before it', (reason, step, shown) => {
  expect(withoutStep(reason, step)).toBe(shown);
});
