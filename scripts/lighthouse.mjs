/**
 * `npm run lighthouse`: makes a website of each template, edits it once, and has Lighthouse look at
 * up to five pages of it as a phone does. Fails on less than `floors`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareOrExit } from './prepare.mjs';
import { root } from './processes.mjs';
import { distFolder } from './tasks.mjs';

/**
 * @typedef {{ id: string, score: number | null, auditRefs: { id: string, weight: number }[] }} Category
 * @typedef {{ score: number | null, title: string, displayValue?: string }} Audit
 * @typedef {{ categories: Record<string, Category>, audits: Record<string, Audit>, runtimeError?: { message: string } }} Result
 * @typedef {(url: string, flags: object) => Promise<{ lhr: Result } | undefined>} Lighthouse
 * @typedef {{ port: number, kill(): void }} Chrome
 * @typedef {{ url: string, token: string }} Service
 */

/** Of 100. Only the first varies from run to run. */
const floors = /** @type {const} */ ({ performance: 97, accessibility: 100, 'best-practices': 100, seo: 100 });
const names = /** @type {(keyof typeof floors)[]} */ (Object.keys(floors));
/** The median of three is enough when two runs are. */
const maxRuns = 3;
const maxPages = 5;

const tools = join(root, '.servers/lighthouse/node_modules');
const chromePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/** @param {string} dataDir */
const startService = async (dataDir) => {
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };
  const child = spawn(process.execPath, [join(distFolder, 'main.js')], {
    cwd: dataDir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^Doorstep is open at (http\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    const mint = [join(distFolder, 'operations/mintToken.js'), '--role', 'admin', '--subject', 'ops@example.com'];
    const token = execFileSync(process.execPath, mint, { cwd: dataDir, env, encoding: 'utf8' }).trim();
    return { url, token, stop: () => child.kill() };
  }
  throw new Error('The service did not start');
};

/**
 * @param {Service} service
 * @param {string} path
 * @param {object} [body] - of a POST
 */
const call = async ({ url, token }, path, body) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(
    `${url}/v1${path}`,
    body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
  );
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${String(response.status)}: ${text}`);
  return text;
};

/**
 * Replaces what only a template can say, as whoever gets the website does first.
 * @param {string} repository
 */
const edit = (repository) => {
  const folder = mkdtempSync(join(tmpdir(), 'doorstep-edit-'));
  /** @param {readonly string[]} args */
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', '-C', folder, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  git('clone', '--quiet', repository, '.');
  for (const name of readdirSync(join(folder, '_data'))) {
    const file = join(folder, '_data', name);
    const text = readFileSync(file, 'utf8')
      .replaceAll('hello@example.com', 'office@smith.localhost')
      .replace('Second floor', 'The yellow door');
    writeFileSync(file, text.replaceAll(/\+1 555 0100/g, '+44 113 496 0000').replaceAll('+15550100', '+441134960000'));
  }
  git('commit', '--quiet', '--all', '--message', 'Write our own words');
  git('push', '--quiet', 'origin', 'HEAD');
  rmSync(folder, { recursive: true });
};

/**
 * @param {Service} service
 * @param {string} dataDir
 * @param {string} template
 */
const publish = async (service, dataDir, template) => {
  const website = /** @type {{ id: string }} */ (
    JSON.parse(await call(service, '/websites', { name: 'Smith & Daughters', slug: template, templateId: template }))
  );
  // The stream ends with the job.
  await call(service, `/websites/${website.id}/provisioning/events`);
  edit(join(dataDir, 'repositories', `${template}.git`));
  await call(service, `/websites/${website.id}/redeploy`, {});
  const home = `${service.url}/sites/${template}/`;
  const { headers } = await fetch(home);
  if (headers.has('x-robots-tag')) throw new Error(`${home} still says ${String(headers.get('x-robots-tag'))}`);
  const sitemap = await (await fetch(`${home}sitemap.xml`)).text();
  return [...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, page = '']) => page).slice(0, maxPages);
};

/**
 * @param {Lighthouse} lighthouse
 * @param {number} port
 * @param {string} url
 */
const look = async (lighthouse, port, url) => {
  const found = await lighthouse(url, {
    port,
    logLevel: 'error',
    onlyCategories: names,
    formFactor: 'mobile',
    throttlingMethod: 'simulate',
  });
  if (found === undefined || found.lhr.runtimeError !== undefined)
    throw new Error(`Lighthouse could not look at ${url}: ${found?.lhr.runtimeError?.message ?? ''}`);
  return found.lhr;
};

/**
 * @param {Result} result
 * @param {string} name
 */
const scoreOf = ({ categories }, name) => Math.round((categories[name]?.score ?? 0) * 100);

/**
 * The scores of a page, each the median of its runs, and what cost points.
 * @param {() => Promise<Result>} run
 */
const rate = async (run) => {
  /** @type {Result[]} */
  const results = [];
  /** @param {Result} result */
  const passes = (result) => names.every((name) => scoreOf(result, name) >= floors[name]);
  while (results.length < maxRuns && results.filter(passes).length <= maxRuns / 2) results.push(await run());
  const scores = names.map((name) => {
    const sorted = results.map((result) => scoreOf(result, name)).sort((one, other) => one - other);
    // Of two runs the worse one, so that no third could lower it.
    return { name, score: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0 };
  });
  const missed = scores.filter(({ name, score }) => score < floors[name]);
  const reasons = missed.flatMap(({ name }) =>
    results.flatMap(({ categories, audits }) =>
      (categories[name]?.auditRefs ?? []).flatMap(({ id, weight }) => {
        const audit = audits[id];
        const costs = weight > 0 && audit !== undefined && audit.score !== null && audit.score < 1;
        return costs ? [`${name}: ${audit.title} (${audit.displayValue ?? id})`] : [];
      }),
    ),
  );
  return { scores, reasons: [...new Set(reasons)], passed: missed.length === 0 };
};

const main = async () => {
  await prepareOrExit();
  const missing = [
    existsSync(tools) ? [] : 'test/support/lighthouse/install',
    chromePath === undefined ? 'apt-get install chromium' : [],
  ].flat();
  if (missing.length > 0) {
    const isRequired = process.env['CI'] === 'true';
    process.stdout.write(`Lighthouse ${isRequired ? 'cannot run' : 'is skipped'} here: run ${missing.join(' and ')}\n`);
    process.exitCode = isRequired ? 1 : 0;
    return;
  }
  const { launch } = /** @type {{ launch: (options: object) => Promise<Chrome> }} */ (
    await import(join(tools, 'chrome-launcher/dist/index.js'))
  );
  const { default: lighthouse } = /** @type {{ default: Lighthouse }} */ (await import(join(tools, 'lighthouse/core/index.js')));
  const dataDir = mkdtempSync(join(tmpdir(), 'doorstep-lighthouse-'));
  const service = await startService(dataDir);
  const chrome = await launch({
    chromePath,
    chromeFlags: ['--headless=new', '--no-sandbox', '--disable-gpu'],
    logLevel: 'error',
  });
  let failed = false;
  try {
    process.stdout.write(`${names.join(' ')}\n`);
    const entries = readdirSync(join(root, 'templates'), { withFileTypes: true });
    for (const { name: template } of entries.filter((entry) => entry.isDirectory())) {
      for (const page of await publish(service, dataDir, template)) {
        const { scores, reasons, passed } = await rate(() => look(lighthouse, chrome.port, page));
        process.stdout.write(
          `${passed ? 'ok  ' : 'FAIL'} ${scores.map(({ score }) => score).join(' ')} ${new URL(page).pathname}\n`,
        );
        for (const reason of reasons) process.stdout.write(`       ${reason}\n`);
        failed ||= !passed;
      }
    }
  } finally {
    chrome.kill();
    service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  process.exitCode = failed ? 1 : 0;
};

await main();
