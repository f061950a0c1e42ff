import { brandLogo } from '../../../page.js';

/** What mails are made of. Anything else is left out, and what it holds with it. */
const elements = new Set(
  'a b body br center div em h1 h2 h3 hr i img li ol p span strong table tbody td th thead tr u ul'.split(' '),
);

const attributes = new Set(
  'align alt bgcolor border cellpadding cellspacing class colspan height rowspan valign width'.split(' '),
);

/** The page has its heading already, and its body. */
const replaced: Readonly<Record<string, string>> = { body: 'div', h1: 'h2' };

declare global {
  interface Window {
    /** Absent in browsers that do not know it. What it makes is text to the declarations of the DOM. */
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { readonly createHTML: (markup: string) => string },
      ): { readonly createHTML: (markup: string) => string };
    };
  }
}

/** Parsed markup runs nothing and loads nothing: it belongs to no window. */
const policy = window.trustedTypes?.createPolicy('doorstep-mail', { createHTML: (markup) => markup });

const parsed = (markup: string): Document => new DOMParser().parseFromString(policy?.createHTML(markup) ?? markup, 'text/html');

/** Styles that could load something are left out, all of them: the service writes none. */
const harmless = (rules: string): string => (/url\(|image|@import|\\/i.test(rules) ? '' : rules);

/** A mail's content, made anew of what is allowed, and its style sheets. */
export interface MailContent {
  readonly language: string;
  readonly content: DocumentFragment;
  readonly styles: readonly CSSStyleSheet[];
}

/**
 * Reads a mail's HTML so that it can stand in a shadow root. Elements are created one by one, so nothing
 * in a mail runs; pictures are the agency's logo or none, and styles load nothing.
 */
export const mailContentOf = (markup: string): MailContent => {
  const styles: CSSStyleSheet[] = [];
  // The policy of the page holds for what is parsed too: it refuses styles in markup, and reports each.
  const bare = markup
    .replaceAll(/<style\b([^>]*)>([\s\S]*?)<\/style>/gi, (_, start: string, rules: string) => {
      const sheet = new CSSStyleSheet({ media: /\smedia="([^"]*)"/i.exec(start)?.[1] ?? '' });
      sheet.replaceSync(harmless(rules));
      styles.push(sheet);
      return '';
    })
    .replaceAll(/\sstyle="/gi, ' data-style="');
  const mail = parsed(bare);
  const content = document.createDocumentFragment();
  append(content, mail.body);
  return { language: mail.documentElement.lang, content, styles };
};

const append = (parent: Node, node: Node): void => {
  if (node instanceof Text) parent.appendChild(document.createTextNode(node.data));
  if (node instanceof HTMLElement) {
    const made = elementOf(node);
    if (made === null) return;
    for (const child of node.childNodes) append(made, child);
    parent.appendChild(made);
  }
};

const elementOf = (source: HTMLElement): HTMLElement | null => {
  const name = source.localName;
  if (!elements.has(name)) return null;
  const made = document.createElement(replaced[name] ?? name);
  for (const { name: attribute, value } of source.attributes) {
    if (attributes.has(attribute)) made.setAttribute(attribute, value);
  }
  made.style.cssText = harmless(source.dataset['style'] ?? '');
  if (source.getAttribute('role') === 'presentation') made.setAttribute('role', 'presentation');
  if (source.getAttribute('aria-hidden') === 'true') made.setAttribute('aria-hidden', 'true');
  if (made instanceof HTMLAnchorElement) linkTo(made, source.getAttribute('href') ?? '');
  if (made instanceof HTMLImageElement && brandLogo !== undefined && source.getAttribute('src') === brandLogo) {
    made.src = brandLogo;
  }
  return made;
};

const linkTo = (link: HTMLAnchorElement, address: string): void => {
  if (!/^(?:https?|mailto):/i.test(address)) return;
  link.href = address;
  link.target = '_blank';
  link.rel = 'noreferrer noopener';
};
