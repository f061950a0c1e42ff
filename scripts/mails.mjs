/**
 * Makes the HTML of the mails from its MJML. `[[name]]` stands for what the service fills in when it
 * sends one, and `<!--row name-->` begins what it repeats or leaves out: input is never taken for
 * markup, and compiling, which takes a second, never waits in the service.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, StepFailed } from './processes.mjs';

const mails = { mail: 'src/platform/mail/mail.mjml' };

/** MJML takes only colours where colours belong: these stand there for what is filled in. */
const gapColours = {
  '#0a0b01': 'ground',
  '#0a0b02': 'surface',
  '#0a0b03': 'brand',
  '#0a0b04': 'brandInk',
  '#0a0b05': 'brandEdge',
  '#0a0b06': 'text',
  '#0a0b07': 'muted',
  '#0a0b08': 'line',
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
