/**
 * Makes the HTML of the mails from their MJML. `[[name]]` stands for what the service fills in when
 * it sends one: input is never taken for markup, and compiling, which takes a second, never waits
 * in the service.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, StepFailed } from './processes.mjs';

const mails = { invitation: 'src/workers/invitationMail/invitation.mjml' };

/** MJML takes only colours where colours belong: these stand there for what is filled in. */
const gapColours = {
  '#0a0b01': 'ground',
  '#0a0b02': 'card',
  '#0a0b03': 'fill',
  '#0a0b04': 'onFill',
  '#0a0b05': 'accent',
};

/** @param {string} folder - where `<name>.html` of each mail goes */
export const makeMails = async (folder) => {
  const { default: mjml2html } = await import('mjml');
  mkdirSync(folder, { recursive: true });
  for (const [name, source] of Object.entries(mails)) {
    const { html } = await mjml2html(readFileSync(join(root, source), 'utf8'), { validationLevel: 'strict', fonts: {} });
    const filled = html.replaceAll(/#0a0b\d\d/gi, (/** @type {string} */ colour) => {
      const gap = new Map(Object.entries(gapColours)).get(colour.toLowerCase());
      if (gap === undefined) throw new StepFailed(`${source}: ${colour} stands for nothing`);
      return `[[${gap}]]`;
    });
    writeFileSync(join(folder, `${name}.html`), filled);
  }
};
