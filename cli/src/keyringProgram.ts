/**
 * A program of its own: does one thing in the keyring of the system, `<action> <account>`, and ends.
 * A keyring that does not answer stops whatever process has asked it, even from ending, so the
 * CLI asks it in this one, which can be killed. Secrets come by standard input and leave by standard
 * output, since other users may see a command line.
 */
import { text } from 'node:stream/consumers';
import { AsyncEntry } from '@napi-rs/keyring';

const [, , action, account = ''] = process.argv;
// Without a service for secrets there would be the kernel's keyring, which is gone with the session.
const entry = new AsyncEntry('doorstep', account, { linux: { store: 'secret-service' } });

switch (action) {
  case 'write':
    await entry.setPassword(await text(process.stdin));
    break;
  case 'read':
    process.stdout.write((await entry.getPassword()) ?? '');
    break;
  case 'delete':
    await entry.deletePassword();
    break;
  default:
    throw new Error(`unknown action ${String(action)}`);
}
