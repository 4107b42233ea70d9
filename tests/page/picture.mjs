// Takes the picture of the report page that README shows.
//   usage: node picture.mjs TFPROF PROFILE OUT.png
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';

const [tfprof, profile, out] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'tfprof-picture-'));
const path = join(folder, 'report.html');
execFileSync(tfprof, ['report', profile, '-o', path]);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1000, height: 1340 }, colorScheme: 'light' });
await page.goto('file://' + path);
await page.locator('html[data-ready=yes]').waitFor({ state: 'attached' });
await page.waitForTimeout(500);
await page.screenshot({ path: resolve(out) });
await browser.close();
rmSync(folder, { recursive: true });
