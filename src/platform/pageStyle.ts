import { brandVariables, type Brand } from './brand.js';

/** The system's own sans, as on the portal; Inter where it is installed. */
const font = `Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif`;

/** The style sheet of all pages, for narrow and wide screens, light and dark. */
export const styleOf = (brand: Brand): string => `
:root { color-scheme: light dark; --shadow: 0 1px 2px #1d20250a, 0 8px 24px #1d202514; ${brandVariables(brand, 'light')} }
@media (prefers-color-scheme: dark) { :root { --shadow: 0 1px 2px #0006, 0 8px 24px #0007; ${brandVariables(brand, 'dark')} } }
* { box-sizing: border-box; }
body {
  display: grid; grid-template-columns: minmax(0, 1fr); place-items: center; min-height: 100vh; min-height: 100dvh; margin: 0; padding: 24px 16px;
  background: var(--ground); color: var(--text); font: 16px/1.5 ${font}; -webkit-font-smoothing: antialiased;
}
.card {
  width: min(100%, 440px); padding: 32px; border: 1px solid var(--line); border-radius: 12px; background: var(--surface);
  box-shadow: var(--shadow);
}
header { margin-bottom: 20px; }
.name { display: flex; align-items: center; gap: 12px; margin: 0; overflow-wrap: anywhere; font-weight: 640; }
.name img { flex: none; max-width: 50%; max-height: 40px; }
.initial {
  flex: none; display: grid; place-items: center; width: 28px; height: 28px; border: 1px solid var(--brand-edge); border-radius: 8px;
  background: var(--brand); color: var(--brand-ink); font-weight: 700; line-height: 1;
}
h1, h2 { line-height: 1.2; letter-spacing: -0.015em; font-weight: 640; overflow-wrap: anywhere; text-wrap: balance; }
h1 { margin: 0 0 10px; font-size: 24px; }
p { margin: 0 0 18px; overflow-wrap: anywhere; }
main > :last-child { margin-bottom: 0; }
label { display: block; margin-bottom: 6px; font-size: 14px; font-weight: 560; }
input {
  display: block; width: 100%; min-height: 44px; margin: 0 0 18px; padding: 9px 12px; border: 1px solid var(--line-strong); border-radius: 9px;
  background: var(--surface); color: var(--text); font: inherit;
}
input[name='code'], input.code, p.code { font-size: 24px; letter-spacing: 0.12em; font-variant-numeric: tabular-nums; }
p.code { padding: 10px 14px; border-radius: 9px; background: var(--sunken); text-align: center; }
input[aria-invalid='true'] { border-color: var(--text); border-width: 2px; }
button, .button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 44px; padding: 9px 16px; border: 1px solid var(--brand-edge);
  border-radius: 9px; background: var(--brand); color: var(--brand-ink); font: inherit; font-weight: 560; line-height: 1.25; text-align: center;
  text-decoration: none; cursor: pointer;
}
button:hover, .button:hover { box-shadow: 0 0 0 1px var(--brand-edge); }
.second { margin-top: 10px; border-color: var(--line-strong); background: var(--surface); color: var(--text); }
.second:hover { box-shadow: 0 0 0 1px var(--line-strong); }
a { color: var(--brand-text); }
a.button { color: var(--brand-ink); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 9px; }
.problem {
  padding: 12px 14px; border: 1px solid var(--line-strong); border-left-width: 4px; border-radius: 9px; background: var(--sunken);
}
.aside { margin: 0 0 18px; color: var(--muted); font-size: 14px; }
form + .aside, .button + .aside { margin-top: 18px; }
@media (max-width: 480px) { body { place-items: start center; } .card { padding: 24px 20px; } }
`;

/** The colours of the portal: custom properties, light and dark; light on paper. */
export const brandStyleOf = (brand: Brand): string =>
  `:root { color-scheme: light dark; ${brandVariables(brand, 'light')} }
@media screen and (prefers-color-scheme: dark) { :root { ${brandVariables(brand, 'dark')} } }
`;
