import type { Brand } from './brand.js';
import { html, type Html } from './html.js';

/** The agency at the head of a page: its logo, or the first letter of its name on its colour, and its name. */
export const brandHeader = ({ name, logo }: Brand): Html => {
  const [initial = ''] = name.toLocaleUpperCase();
  const picture =
    logo === undefined ? html`<span class="initial" aria-hidden="true">${initial}</span>` : html`<img src="${logo}" alt="" />`;
  return html`<header>
    <p class="name">${picture}<span>${name}</span></p>
  </header>`;
};
