/**
 * `node scripts/templatePictures.mjs`: makes the picture of each template, `templates/<id>.webp`,
 * from a website that the built service makes of it. It needs Chromium.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { prepareOrExit } from './prepare.mjs';
import { report, root, StepFailed } from './processes.mjs';
import { distFolder } from './tasks.mjs';

const viewport = { width: 1280, height: 800 };
/** Of the picture, in pixels. */
const size = { width: 640, height: 400 };
const maxBytes = 40_000;
const maxWaitMs = 60_000;

/** @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, null>} child */
const addressOf = async (child) => {
  for await (const line of createInterface(child.stdout)) {
    const [, address] = /^Doorstep is open at (http\S+)$/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new StepFailed('the service ended before it was open');
};

/** @param {string} dataDir @param {string} program @param {readonly string[]} args */
const start = (dataDir, program, args = []) =>
  spawn(process.execPath, [join(distFolder, program), ...args], {
    cwd: dataDir,
    env: { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** @param {string} dataDir */
const mintToken = async (dataDir) => {
  let token = '';
  for await (const chunk of start(dataDir, 'operations/mintToken.js', ['--role', 'admin', '--subject', 'pictures']).stdout) {
    token += String(chunk);
  }
  return token.trim();
};

/**
 * The page as WebP, which the browser makes by itself.
 * @param {import('playwright-core').Browser} browser
 * @param {string} address
 */
const picture = async (browser, address) => {
  const page = await browser.newPage({ viewport, reducedMotion: 'reduce', colorScheme: 'light' });
  await page.goto(address, { waitUntil: 'networkidle' });
  const whole = (await page.screenshot({ type: 'png' })).toString('base64');
  await page.goto('about:blank');
  const script = `(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${whole}';
    await image.decode();
    const canvas = document.createElement('canvas');
    Object.assign(canvas, ${JSON.stringify(size)});
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL('image/webp', 0.85);
  })()`;
  const data = String(await page.evaluate(script));
  await page.close();
  return Buffer.from(data.slice(data.indexOf(',') + 1), 'base64');
};

await prepareOrExit();
const dataDir = mkdtempSync(join(tmpdir(), 'doorstep-pictures-'));
const service = start(dataDir, 'main.js');
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const address = await addressOf(service);
  const authorization = `Bearer ${await mintToken(dataDir)}`;
  /** @param {string} path @param {unknown} [body] */
  const call = async (path, body) => {
    const headers = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${address}/v1${path}`, request);
    if (!answer.ok) throw new StepFailed(`${path}: ${await answer.text()}`);
    return /** @type {unknown} */ (await answer.json());
  };
  for (const { id } of /** @type {{ id: string }[]} */ (await call('/templates'))) {
    const made = /** @type {{ id: string }} */ (
      await call('/websites', { name: 'Alder & Co', slug: `picture-${id}`, templateId: id, brandColor: '#0f766e' })
    );
    // The stream of events ends with the job.
    const events = { headers: { authorization }, signal: AbortSignal.timeout(maxWaitMs) };
    await (await fetch(`${address}/v1/websites/${made.id}/provisioning/events`, events)).text();
    const website = /** @type {{ status: string, url?: string }} */ (await call(`/websites/${made.id}`));
    if (website.status !== 'active') throw new StepFailed(`the website of ${id} did not become active`);
    const bytes = await picture(browser, website.url ?? '');
    if (bytes.length > maxBytes) throw new StepFailed(`the picture of ${id} has ${String(bytes.length)} bytes`);
    writeFileSync(join(root, 'templates', `${id}.webp`), bytes);
    report(`templates/${id}.webp: ${String(bytes.length)} bytes`);
  }
} finally {
  await browser.close();
  service.kill('SIGTERM');
  await once(service, 'exit');
  rmSync(dataDir, { recursive: true, force: true });
}
