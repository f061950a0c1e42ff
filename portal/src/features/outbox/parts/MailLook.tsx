import { useLayoutEffect, useRef, type ReactNode } from 'react';
import classes from '../OutboxPage.module.css';
import { mailContentOf } from './mailContent.js';

/** A mail as mail programs show it, apart from the styles of the page. */
export const MailLook = ({ html }: { readonly html: string }): ReactNode => {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = host;
    if (current === null) return;
    const { language, content, styles } = mailContentOf(html);
    const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' });
    current.lang = language;
    root.adoptedStyleSheets = [...styles];
    root.replaceChildren(content);
  }, [html]);
  return <div ref={host} className={classes['look']} />;
};
