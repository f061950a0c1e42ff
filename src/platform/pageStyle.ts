import { backgrounds, brandColours, type Brand } from './brand.js';

const inks = {
  light: '--ink: #1f2933; --quiet: #52606d; --line: #7b8794; --problem: #b42318; --problem-ground: #fef3f2;',
  dark: '--ink: #eef2f6; --quiet: #b3bfcb; --line: #8a97a5; --problem: #ffb4ab; --problem-ground: #3a1f1d;',
} as const;

const variables = (brand: Brand, scheme: 'light' | 'dark'): string => {
  const { ground, card } = backgrounds[scheme];
  const { accent, fill, onFill } = brandColours(brand)[scheme];
  return `--ground: ${ground}; --card: ${card}; --accent: ${accent}; --fill: ${fill}; --on-fill: ${onFill}; ${inks[scheme]}`;
};

/** The style sheet of all pages, for narrow and wide screens, light and dark. */
export const styleOf = (brand: Brand): string => `
:root { color-scheme: light dark; ${variables(brand, 'light')} }
@media (prefers-color-scheme: dark) { :root { ${variables(brand, 'dark')} } }
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; padding: 24px 16px; background: var(--ground); color: var(--ink);
  font: 17px/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;
}
header, main { width: 100%; max-width: 440px; margin: 0 auto; }
header { padding: 6vh 8px 12px; }
.name { display: flex; align-items: center; gap: 12px; margin: 0; overflow-wrap: anywhere; font-weight: 700; letter-spacing: 0.02em; }
.name img { flex: none; max-width: 45%; max-height: 48px; }
main {
  padding: 32px; background: var(--card); border-radius: 14px;
  box-shadow: 0 1px 2px rgb(0 0 0 / 8%), 0 12px 32px rgb(0 0 0 / 8%);
}
h1 { margin: 0 0 8px; font-size: 28px; line-height: 1.25; overflow-wrap: anywhere; }
p { margin: 0 0 20px; overflow-wrap: anywhere; }
label { display: block; margin-bottom: 6px; font-weight: 600; }
input {
  display: block; width: 100%; margin: 0 0 20px; padding: 12px 14px; border: 1px solid var(--line); border-radius: 9px;
  background: var(--card); color: var(--ink); font: inherit;
}
input[name='code'], input.code, p.code { font-size: 24px; letter-spacing: 0.12em; font-variant-numeric: tabular-nums; }
input[aria-invalid='true'] { border-color: var(--problem); border-width: 2px; }
button, .button {
  display: block; width: 100%; padding: 13px 20px; border: 2px solid var(--accent); border-radius: 9px; background: var(--fill);
  color: var(--on-fill); font: inherit; font-weight: 650; text-align: center; text-decoration: none; cursor: pointer;
}
.second { margin-top: 12px; background: transparent; color: var(--accent); }
a { color: var(--accent); }
a:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.problem {
  margin-bottom: 20px; padding: 12px 14px; border-left: 4px solid var(--problem); border-radius: 4px;
  background: var(--problem-ground); color: var(--problem);
}
.aside { margin: 24px 0 0; color: var(--quiet); font-size: 15px; }
@media (max-width: 480px) { main { padding: 24px 20px; } header { padding-top: 2vh; } }
`;
