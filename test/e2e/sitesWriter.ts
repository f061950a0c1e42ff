import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { createEmbeddedHosting } from '../../src/integrations/hosting/embedded.js';
import { createEmbeddedSourceHost } from '../../src/integrations/sourceHost/embedded.js';
import { systemClock } from '../../src/platform/clock.js';
import { siteBuilder } from '../support/siteBuilder.js';

/**
 * A separate process that provisions one website after another until it is killed: `<data folder>
 * <templates folder> <prefix>`. Prints what it has acknowledged, one line each: `repository
 * <name>`, `project <name>`, `deployment <name> <id>`.
 */
const [, , folder = '', templatesFolder = '', prefix = ''] = process.argv;
const repositories = createEmbeddedSourceHost({ folder: join(folder, 'repositories'), templatesFolder, clock: systemClock });
const hosting = createEmbeddedHosting({
  folder: join(folder, 'sites'),
  publicUrl: () => 'http://127.0.0.1',
  builder: siteBuilder,
  clock: systemClock,
});

/** Synchronous, so that a line is written before the process is killed. */
const print = (line: string): void => {
  writeSync(1, `${line}\n`);
};

for (let index = 0; ; index += 1) {
  const name = `${prefix}-${String(index)}`;
  const repository = await repositories.createRepository({ name, templateId: 'landing', marker: name, description: name });
  print(`repository ${name}`);
  const project = await hosting.createProject({ name, marker: name, repository });
  await hosting.setVariables(project.id, { SITE_NAME: name });
  print(`project ${name}`);
  for (const marker of ['first', 'second']) print(`deployment ${name} ${(await hosting.deploy(project.id, marker)).id}`);
}
