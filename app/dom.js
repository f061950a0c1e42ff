/**
 * Makes an element; text is only ever text.
 * @param {string} name - of the element, with its class: `p.quiet`
 * @param {Readonly<Record<string, string | (() => void)>>} attributes - functions are click handlers
 * @param {readonly (Node | string)[]} content
 * @returns {HTMLElement}
 */
const element = (name, attributes, content) => {
  const [tag = '', style = ''] = name.split('.');
  const made = document.createElement(tag);
  if (style !== '') made.className = style;
  for (const [attribute, value] of Object.entries(attributes)) {
    if (typeof value === 'string') made.setAttribute(attribute, value);
    else made.addEventListener('click', value);
  }
  made.append(...content);
  return made;
};

/** @param {readonly (Node | string)[]} content */
export const title = (...content) => element('h1', {}, content);
/** @param {readonly (Node | string)[]} content */
export const heading = (...content) => element('h2', {}, content);
/** @param {readonly (Node | string)[]} content */
export const text = (...content) => element('p', {}, content);
/** @param {readonly (Node | string)[]} content */
export const quiet = (...content) => element('p.quiet', {}, content);
/** @param {string} words */
export const strong = (words) => element('strong', {}, [words]);
/** @param {readonly Node[][]} items */
export const list = (...items) =>
  element(
    'ul',
    {},
    items.map((item) => element('li', {}, item)),
  );
/** @param {string} words @param {string} href */
export const link = (words, href) => element('a', { href }, [words]);
/** @param {string} words @param {string} href */
export const linkButton = (words, href) => element('a.button', { href }, [words]);
/** Announced by screen readers. @param {readonly (Node | string)[]} content */
export const problem = (...content) => element('p.problem', { role: 'alert' }, content);

/**
 * A button that can be pressed once at a time.
 * @param {string} words
 * @param {() => Promise<void>} act
 * @param {'first' | 'second'} rank
 */
export const button = (words, act, rank = 'first') => {
  const made = element(rank === 'first' ? 'button' : 'button.second', { type: 'button' }, [words]);
  made.addEventListener('click', () => {
    made.toggleAttribute('disabled', true);
    void act().finally(() => {
      made.toggleAttribute('disabled', false);
    });
  });
  return made;
};

/** A date as people write it, such as 22 December 2026. @param {string} time */
export const day = (time) => new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });

/**
 * Shows a page, and moves the focus of screen readers to it.
 * @param {string} name - of the page, in the window's title
 * @param {readonly (Node | string)[]} content
 */
export const show = (name, ...content) => {
  const main = document.querySelector('main');
  if (main === null) return;
  document.title = `${name} – ${document.documentElement.dataset.brand ?? ''}`;
  main.replaceChildren(...content);
  main.focus();
};
