/** What `--help` says of an operator's script. */
interface ScriptHelp {
  /** The command, with what it takes. */
  readonly usage: readonly string[];
  readonly does: string;
  /** Whether the service has to be stopped for it. Default: it may run. */
  readonly alone?: boolean;
  /** What does the same over HTTP, from any machine: commands of the CLI, and what differs. */
  readonly elsewhere?: string;
}

/** By the names of their files. */
export const scripts = {
  mintToken: {
    usage: [
      'npm run --silent token -- --revoke --subject <subject>',
      'npm run --silent token -- --role admin|client --subject <subject> [--email <address>] [--name <name>] [--scope read|write] [--expires-at <time>]',
    ],
    does: 'Mints a personal access token for anybody, and prints it alone; or revokes all of a subject.',
    elsewhere:
      '`doorstep keys create` mints one for oneself, `doorstep keys list` and `doorstep keys revoke` are for admins anybody’s.',
  },
  auditDelivery: {
    usage: ['npm run audit:delivery -- <website id> [--at <ISO 8601 time>] [--json]'],
    does: 'Prints the history of a delivery block, from the event log and nothing else.',
    elsewhere: '`doorstep delivery history <website>` prints the same changes.',
  },
  projectionStatus: {
    usage: ['npm run projections:status -- [--json]'],
    does: 'Shows position, lag and version of each read model.',
  },
  rebuildProjection: {
    usage: ['npm run projections:rebuild -- <name> …'],
    does: 'Builds read models anew beside those that answer, then swaps.',
  },
  workersStatus: {
    usage: ['npm run workers:status -- [--json | --retry <id> | --retry all]'],
    does: 'Shows how far each worker is behind, and what is parked or fails; has it tried again.',
  },
  parkedMails: {
    usage: ['npm run mails:parked -- [--send-again <mail id> | --send-again all]'],
    does: 'Lists the mails that could not be sent, and has them sent again.',
    elsewhere: '`doorstep invitations resend` sends one invitation anew.',
  },
  parkedWebhooks: {
    usage: ['npm run webhooks:parked -- [--replay <webhook id> | --replay all]'],
    does: 'Lists the webhooks that could not be processed, and has them processed again.',
  },
  rotateVault: {
    usage: ['npm run vault:rotate'],
    does: 'Wraps the vault with the current master key, and gives the service new keys.',
  },
  endSessions: {
    usage: ['npm run sessions:end'],
    does: 'Signs everybody out of the embedded sign-in.',
  },
  backup: {
    usage: ['npm run --silent backup -- <new folder>'],
    does: 'Copies the data folder while the service is running.',
  },
  scavengeLog: {
    usage: ['npm run log:scavenge -- [--drop]'],
    does: 'Says which streams of the log tell nothing any more; drops them.',
  },
  restoreFiles: {
    usage: ['npm run files:restore -- <backup or data folder>'],
    does: 'Puts the documents and media of a backup into the bucket of the settings.',
  },
  move: {
    usage: [
      'npm run move -- --to-event-store <esdb://…> --to-read-models <mongodb://…> [--to-files <s3://bucket[?endpoint=…&region=…]>] [--dry-run]',
      'npm run move -- --to-folder <new data folder> [--dry-run]',
    ],
    does: 'Takes the installation of the settings over into servers, or from servers into a data folder. Run again, it goes on where it was interrupted.',
    alone: true,
  },
} as const satisfies Readonly<Record<string, ScriptHelp>>;

/** For wrong arguments. */
export const usageOf = (script: keyof typeof scripts): string => `Usage: ${scripts[script].usage.join(', or ')}`;

/** The whole help of a script; undefined for one that has none. */
export const helpOf = (script: string): string | undefined => {
  const found: ScriptHelp | undefined = new Map<string, ScriptHelp>(Object.entries(scripts)).get(script);
  if (found === undefined) return undefined;
  const { usage, does, elsewhere, alone = false } = found;
  const over = elsewhere === undefined ? [] : ['', `Over HTTP, from any machine (docs/programs.md): ${elsewhere}`];
  const when = alone ? 'Stop every process of the service first.' : 'The service may be running.';
  const here = `It works on the stores of the service’s settings, on this machine. ${when}`;
  return [does, '', ...usage.map((line) => `  ${line}`), '', here, ...over, ''].join('\n');
};
