import { command, choiceArgument, optionalArgument, Refusal, type Command } from '../command.js';
import { version } from '../version.js';

const shells = ['bash', 'zsh', 'fish'] as const;

/** Commands about the program itself, and the portal's page. */
export const programCommands: readonly Command[] = [
  command({
    name: 'open',
    summary: 'Open the portal, or the page of a website, in the browser',
    description: 'Without a terminal it prints the address.',
    examples: [
      ['The page of a website', 'open corner-bakery'],
      ['The portal', 'open'],
    ],
    operations: [],
    arguments: { website: optionalArgument('Slug or id of the website', { completes: 'website' }) },
    plain: true,
    run: async ({ connection, doorstep, output, environment }, { website }) => {
      const { url } = await connection();
      const page = website === undefined ? '' : `websites/${(await (await doorstep()).websites.findListed(website)).id}`;
      const address = `${url}/app/${page}`;
      if (!output.isTerminal) {
        output.lines([address]);
        return;
      }
      output.note(`Opening ${address}`);
      const { openBrowser } = await import('../browser.js');
      try {
        await openBrowser(address, environment);
      } catch {
        throw new Refusal('There is no browser to open it with. Set BROWSER, or copy the address.');
      }
    },
  }),
  command({
    name: 'completion',
    summary: 'Print the completion of a shell',
    description: 'It completes commands, options, their values and the slugs of websites.',
    examples: [
      ['bash: in ~/.bashrc', 'completion bash >> ~/.bashrc'],
      ['zsh: in a folder of $fpath', 'completion zsh > ~/.zfunc/_doorstep'],
      ['fish', 'completion fish > ~/.config/fish/completions/doorstep.fish'],
    ],
    operations: [],
    arguments: { shell: choiceArgument(shells, 'The shell') },
    plain: true,
    run: async ({ output }, { shell }) => {
      const { completionScripts } = await import('../completion/scripts.js');
      output.raw(completionScripts[shell]);
    },
  }),
  command({
    name: 'version',
    summary: 'Print the version of this program',
    examples: [['Which version is this?', 'version']],
    operations: [],
    plain: true,
    run: ({ output }) => {
      output.raw(`${version}\n`);
    },
  }),
];
