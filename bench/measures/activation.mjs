import { createActiveWebsite } from '../support/api.mjs';
import { median, quantile } from '../support/figures.mjs';
import { withService } from '../support/service.mjs';

/**
 * From asking for a website to its being active: repository, project, deployment, verified address
 * and all.
 * @param {{ quick: boolean }} options
 * @returns {Promise<import('../support/figures.mjs').Figure[]>}
 */
export const activation = ({ quick }) =>
  withService({ purpose: 'activation', websites: 1 }, async (service) => {
    const times = [];
    for (let number = 1; number <= (quick ? 2 : 20); number += 1) {
      const startedAt = performance.now();
      await createActiveWebsite(service);
      times.push(performance.now() - startedAt);
    }
    return [
      {
        name: 'POST to active, median',
        value: median(times),
        unit: 'ms',
        aim: { atMost: 1_000 },
        about: `${times.length} websites, one by one`,
      },
      { name: 'POST to active, p95', value: quantile(times, 0.95), unit: 'ms', aim: { atMost: 1_000 } },
    ];
  });
