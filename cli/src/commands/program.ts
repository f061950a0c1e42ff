import { command, type Command } from '../command.js';
import { version } from '../version.js';

/** Commands about the program itself. */
export const programCommands: readonly Command[] = [
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
