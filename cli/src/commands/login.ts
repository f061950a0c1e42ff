import { argument, command, flag, Refusal, text, type Command } from '../command.js';
import { expiry } from './shared.js';

/** Commands about who is signed in. */
export const loginCommands: readonly Command[] = [
  command({
    name: 'login',
    summary: 'Sign in to a service',
    description: `It opens the browser, then keeps a personal access token of this machine's own: in the keyring of the system where there is one, otherwise in a file that only you may read. It expires in 90 days, unless --expires says otherwise.

Without a terminal or a screen, and with --device, it prints a code and an address to open on any other device. A new sign-in in a profile revokes the token of the former one.

DOORSTEP_TOKEN and DOORSTEP_URL need no sign-in, and win over profiles. DOORSTEP_TOKEN alone is sent to the address of DOORSTEP_PROFILE, or of the profile in use.`,
    examples: [
      ['Sign in by the browser', 'login --url https://doorstep.example.com'],
      ['On a machine without a browser', 'login --url https://doorstep.example.com --device'],
      ['With a token from the portal', 'login --url https://doorstep.example.com --with-token < token.txt'],
      ['As somebody else, beside the first', 'login --profile staging --url https://staging.example.com'],
    ],
    operations: ['getProtectedResource', 'mintAPIKey', 'getMe', 'revokeAPIKey'],
    options: {
      device: flag('Sign in by a code, on any device with a browser'),
      withToken: flag('Read a token from standard input instead of signing in'),
      name: text('Name of the token. Default: "doorstep CLI on" and the name of this machine'),
      expires: text(`${expiry}. Default: 90d`, { placeholder: 'time' }),
      clientId: text('Public client at an issuer outside the service. Default: doorstep-cli', { placeholder: 'id' }),
    },
    plain: true,
    run: async (context, _args, options) => {
      if (options.device && options.withToken) throw new Refusal('Use either --device or --with-token.');
      const { login } = await import('../login/login.js');
      await login(context, options);
    },
  }),
  command({
    name: 'logout',
    summary: 'Revoke the token of a profile, and forget it here',
    description:
      'The token stops working at once, one that was given with --with-token as well: --keep-token leaves it valid. When the service cannot be reached nothing is forgotten, unless --force is given.',
    examples: [
      ['Sign out', 'logout'],
      ['Forget a token that something else uses too', 'logout --keep-token'],
      ['Though the service is gone', 'logout --profile staging --force'],
    ],
    operations: ['getMe', 'revokeAPIKey'],
    options: {
      keepToken: flag('Forget the token here, and leave it valid'),
      force: flag('Forget the token here also when it could not be revoked'),
    },
    plain: true,
    run: async (context, _args, options) => {
      const { logout } = await import('../login/logout.js');
      await logout(context, options);
    },
  }),
  command({
    name: 'whoami',
    summary: 'Show who is signed in where, and with which token',
    examples: [
      ['Who am I?', 'whoami'],
      ['The role, for a script', 'whoami --jq .role'],
    ],
    operations: ['getMe'],
    run: async (context) => {
      const { whoami } = await import('../login/whoami.js');
      await whoami(context);
    },
  }),
  command({
    name: 'profiles',
    summary: 'List the profiles of this machine',
    description: 'One is used where none is named by --profile or DOORSTEP_PROFILE: it is marked.',
    examples: [['Which profiles are there?', 'profiles']],
    operations: [],
    run: async (context) => {
      const { listProfiles } = await import('../login/listProfiles.js');
      await listProfiles(context);
    },
  }),
  command({
    name: 'profiles use',
    summary: 'Use a profile from now on',
    examples: [['Go to staging', 'profiles use staging']],
    operations: [],
    arguments: { name: argument('Name of the profile') },
    plain: true,
    run: async ({ environment, output }, { name }) => {
      const { openProfiles } = await import('../profiles.js');
      const { url, email, subject } = await openProfiles(environment).use(name);
      output.done(`Profile ${name} is in use: ${email ?? subject} at ${url}.`);
    },
  }),
];
