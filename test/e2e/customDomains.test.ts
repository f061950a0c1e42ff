import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDoorstep, type Doorstep } from '../../src/compose.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { startDnsServer } from '../support/dnsServer.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/fleet.js';
import { createApi, mintToken } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * The proxies of docs/custom-domains.md, as that page configures them: only addresses, ports and
 * folders are others, and Caddy is its own authority. CI installs both: there, not having one is a
 * failure.
 */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin`;
const isThere = (program: string): boolean => {
  const found = process.env.CI === 'true' || spawnSync(program, ['-v'], { env: { PATH } }).error === undefined;
  if (!found) console.info(`${program} is not installed (apt-get install ${program}): it is not tried before the service.`);
  return found;
};
const page = readFileSync(new URL('../../docs/custom-domains.md', import.meta.url), 'utf8');
const configuration = (language: string): string => {
  const [, block] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page) ?? [];
  if (block === undefined) throw new Error(`docs/custom-domains.md configures no ${language}`);
  return block;
};

const domain = 'www.bakery.example';
const stranger = 'www.stranger.example';
const folder = temporaryFolder();
const proxies: ChildProcess[] = [];
let doorstep: Doorstep;
/** Where the service listens. */
let backend: string;

const run = (program: string, args: readonly string[]): void => {
  const env = { PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  proxies.push(spawn(program, args, { env, stdio: 'ignore' }));
};

beforeAll(async () => {
  const dns = await startDnsServer();
  const dataDir = temporaryFolder();
  const settings = loadSettings({ DATA_DIR: dataDir, PORT: '0', DNS_SERVERS: dns.address });
  doorstep = await startDoorstep(settings, createLogger({ level: 'silent' }));
  backend = new URL(doorstep.baseUrl).host;
  const api = createApi(doorstep.baseUrl, await mintToken(dataDir));
  const { id } = (await api.post('/websites', { name: 'Corner Bakery', slug: 'bakery' })).body as { id: string };
  await eventually('the activation', async () => {
    const { status } = (await api.get(`/websites/${id}`)).body as { status: string };
    return status === 'active' ? true : undefined;
  });
  for (const name of [domain, stranger]) {
    const added = (await api.post(`/websites/${id}/domains`, { domain: name })).body as {
      records: [{ name: string; value: string }];
    };
    // Nobody proves the other one.
    if (name === domain) dns.zone.set(added.records[0].name, { TXT: [added.records[0].value] });
    await api.post(`/websites/${id}/domains/${name}/verify`);
  }
});
afterAll(async () => {
  await Promise.all(
    proxies.map(async (proxy) => {
      proxy.kill();
      if (proxy.exitCode === null && proxy.signalCode === null) await once(proxy, 'exit');
    }),
  );
  await doorstep.stop();
});

interface Visit {
  readonly status: number | undefined;
  readonly text: string;
  readonly names: string | undefined;
}

/** What a browser gets at a name that leads to the port. @throws without a connection */
const visit = (port: number, name: string, authority: string, path = '/'): Promise<Visit> =>
  new Promise((resolve, reject) => {
    const options = {
      ...({ host: '127.0.0.1', port, path, servername: name, agent: false, timeout: 10_000 } as const),
      headers: { host: `${name}:${String(port)}` },
      ca: readFileSync(authority),
    };
    get(options, (response) => {
      const { socket } = response;
      const names = socket instanceof TLSSocket ? socket.getPeerCertificate().subjectaltname : undefined;
      text(response).then((body) => {
        resolve({ status: response.statusCode, text: body, names });
      }, reject);
    }).on('error', reject);
  });

const untilVisited = (port: number, name: string, authority: string): Promise<Visit> =>
  eventually(`${name} answers`, async () => {
    if (!existsSync(authority)) return undefined;
    return visit(port, name, authority).catch(() => undefined);
  });

(isThere('caddy') ? describe : describe.skip)('Caddy', () => {
  let port: number;
  const authority = join(folder, 'caddy/pki/authorities/local/root.crt');
  beforeAll(async () => {
    port = await freePort();
    const file = join(folder, 'Caddyfile');
    const own = `{\n\tadmin off\n\tskip_install_trust\n\tlocal_certs\n\thttp_port ${String(await freePort())}\n\thttps_port ${String(port)}\n`;
    writeFileSync(file, configuration('caddyfile').replaceAll('127.0.0.1:3000', backend).replace('{\n', own));
    run('caddy', ['run', '--config', file, '--adapter', 'caddyfile']);
  });

  test('gets a certificate for a verified domain on demand, and for no other', async () => {
    expect(await untilVisited(port, domain, authority)).toEqual({
      ...{ status: 200, text: expect.stringContaining('Corner Bakery'), names: `DNS:${domain}` },
    });
    await expect(visit(port, stranger, authority)).rejects.toThrow(/alert|SSL|ECONNRESET/);
    await expect(visit(port, 'nowhere.example', authority)).rejects.toThrow(/alert|SSL|ECONNRESET/);
  });

  test('has the service at its own name, and nothing of it at a domain', async () => {
    expect(await untilVisited(port, 'doorstep.example.com', authority)).toMatchObject({ names: 'DNS:doorstep.example.com' });
    expect((await visit(port, 'doorstep.example.com', authority, '/healthz')).status).toBe(200);
    expect((await visit(port, domain, authority, '/healthz')).status).toBe(404);
  });
});

(isThere('nginx') ? describe : describe.skip)('nginx', () => {
  let port: number;
  const certificates = join(folder, 'live');
  const authority = join(certificates, domain, 'fullchain.pem');
  beforeAll(async () => {
    port = await freePort();
    // What certbot would get.
    mkdirSync(join(certificates, domain), { recursive: true });
    const key = join(certificates, domain, 'privkey.pem');
    const subject = ['-subj', `/CN=${domain}`, '-addext', `subjectAltName=DNS:${domain}`];
    const made = spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
      '-keyout',
      key,
      '-out',
      authority,
      ...subject,
    ]);
    expect(made.status).toBe(0);
    const servers = configuration('nginx')
      .replaceAll('127.0.0.1:3000', backend)
      .replaceAll('/etc/letsencrypt/live', certificates)
      .replace('listen 80 ', `listen 127.0.0.1:${String(await freePort())} `)
      .replace('listen 443 ', `listen 127.0.0.1:${String(port)} `);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
    const file = join(folder, 'nginx.conf');
    // Its workers must be allowed to read the keys.
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    writeFileSync(
      file,
      `${user} daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}\nhttp { access_log off; ${paths.join(' ')}\n${servers}}\n`,
    );
    run('nginx', ['-p', folder, '-c', file]);
  });

  test('serves a verified domain with the certificate of its name, and no other name', async () => {
    expect(await untilVisited(port, domain, authority)).toEqual({
      ...{ status: 200, text: expect.stringContaining('Corner Bakery'), names: `DNS:${domain}` },
    });
    expect((await visit(port, domain, authority, '/healthz')).status).toBe(404);
    await expect(visit(port, stranger, authority)).rejects.toThrow(/alert|SSL|ECONNRESET/);
  });
});
