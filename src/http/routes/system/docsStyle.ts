/** Of the page of the documentation: readable from 320 pixels on, light and dark. */
export const docsStyle = `
:root { color-scheme: light dark; --text: #1f2933; --soft: #52606d; --back: #fff; --line: #d5dbe1; --link: #1d4ed8; --code: #f3f5f7; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7eb; --soft: #a9b4c0; --back: #15191e; --line: #353d47; --link: #8ab4ff; --code: #222931; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main { max-width: 56rem; }
h1 small, dt span { color: var(--soft); font-size: 0.9rem; font-weight: normal; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2rem 0 0.5rem; }
h4 { margin: 1rem 0 0.25rem; }
a { color: var(--link); }
code, pre { font: 0.9em/1.45 ui-monospace, monospace; background: var(--code); border-radius: 0.2rem; }
code { padding: 0 0.2em; }
pre { padding: 0.75rem; white-space: pre-wrap; }
dl { margin: 0; }
dt { margin-top: 0.4rem; }
dd { margin-left: 1.25rem; color: var(--soft); }
nav ul { padding-left: 1.25rem; }
summary { cursor: pointer; padding: 0.25rem 0; }
:target { scroll-margin-top: 1rem; outline: 2px solid var(--link); outline-offset: 0.25rem; }
@media (min-width: 70rem) {
  body { padding-left: 20rem; }
  nav { position: fixed; inset: 0 auto 0 0; width: 18rem; padding: 1rem; overflow-y: auto; border-right: 1px solid var(--line); }
}
`;
