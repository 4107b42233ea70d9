// Opens pages of tfprof report in Chromium and uses them as a person would.
//   usage: [PAIR=FOLDER] node check.mjs TFPROF PROFILE...
// FOLDER has slow and fixed in it; without it only the pages of the profiles are looked at.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const [tfprof, ...profiles] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'tfprof-page-'));
const failures = [];
let checks = 0;
const drawn = { input: 0, whatif: 0, ranks: 0, roofline: 0, memory: 0, program: 0, cutout: 0 };

function expect(what, condition) {
  checks++;
  if (!condition) failures.push(what);
}

// A page whose console, errors, dialogs and requests are watched.
async function open(browser, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: options.width || 1280, height: 900 },
    colorScheme: options.dark ? 'dark' : 'light', offline: true });
  const page = await context.newPage();
  const complain = (what) => failures.push(basename(path) + ': ' + what);
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) complain('console: ' + message.text()); });
  page.on('pageerror', (error) => complain('error: ' + error.message));
  page.on('dialog', (dialog) => { complain('dialog: ' + dialog.message()); dialog.dismiss(); });
  page.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) complain('request: ' + request.url()); });
  const began = Date.now();
  await page.goto('file://' + path);
  await page.locator('html[data-ready]').waitFor({ state: 'attached', timeout: 20000 });
  page.loadedIn = Date.now() - began;
  return page;
}

async function checkAxe(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run()).violations
    .map((one) => one.id + ': ' + one.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(', ')));
  for (const one of found) failures.push(name + ': accessibility: ' + one);
  checks++;
}

async function checkWidth(page, name) {
  const [wide, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(name + ': ' + wide + ' px of content in ' + inner, wide <= inner);
}

async function checkWords(page, name, advice) {
  expect(name + ': ready', await page.evaluate(() => document.documentElement.dataset.ready) === 'yes');
  expect(name + ': no section failed', await page.locator('.failed').count() === 0);
  expect(name + ': verdict', (await page.locator('h1').innerText()).replaceAll('\u00a0', ' ') === advice.verdict.text);
  const shown = advice.findings.filter((finding) => !finding.hidden_by);
  expect(name + ': ' + shown.length + ' findings', await page.locator('details.finding').count() === shown.length);
  const priced = shown.filter((finding) => finding.impact.method !== 'none' && !finding.impact.resource);
  if (priced.length)
    expect(name + ': first finding', (await page.locator('details.finding .title').first().innerText()).replace(/\s+/g, ' ') === priced[0].title);
  const bounds = priced.filter((finding) => finding.impact.method === 'share' && finding.impact.mid_ms !== undefined).length;
  expect(name + ': ' + bounds + ' bounds', await page.locator('details.finding .saves', { hasText: 'may save up to' }).count() === bounds);
  expect(name + ': parts', await page.locator('#composition .parts tr').count() === (advice.composition.length ? advice.composition.length + 1 : 0));
}

// Sorting orders, filtering reduces, and the CSV has what is shown.
async function checkTable(page, name) {
  if (!await page.locator('#tables').count()) return;
  const numbers = () => page.locator('#tables tbody tr:not([aria-hidden]) td.number:nth-child(2)').allInnerTexts();
  await page.locator('#tables thead th.number button').first().click();
  await page.waitForTimeout(60);
  const sorted = await page.locator('#tables th[aria-sort="descending"]').count();
  expect(name + ': a column is sorted', sorted === 1);
  const before = (await numbers()).length;
  expect(name + ': rows are shown', before > 0);
  await page.locator('#tables input[type=search]').fill('no name has this in it');
  await page.waitForTimeout(60);
  expect(name + ': the filter leaves nothing', (await numbers()).length === 0);
  await page.locator('#tables input[type=search]').fill('');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#tables button', { hasText: 'CSV' }).click()]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n').length;
  const count = Number((await page.locator('#tables [role=status]').innerText()).split(' ')[0]);
  expect(name + ': CSV has ' + lines + ' lines for ' + count + ' rows', lines >= count + 1);
}

async function checkTimeline(page, name) {
  const canvas = page.locator('#timeline canvas');
  if (!await canvas.count()) return;
  await canvas.scrollIntoViewIfNeeded();
  const colors = await canvas.evaluate((one) => {
    const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size;
  });
  expect(name + ': something is drawn (' + colors + ' colours)', colors > 3);
  const span = () => page.evaluate(() => [window.page.timeline.view.from, window.page.timeline.view.to, window.page.timeline.view.chosen]);
  const whole = await span();
  await canvas.focus();
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowRight');
  const near = await span();
  expect(name + ': keys zoom', near[1] - near[0] < whole[1] - whole[0] && near[0] > whole[0]);
  await page.keyboard.press('0');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(60);
  expect(name + ': Enter chooses a slice', (await span())[2] >= 0);
  expect(name + ': the slice is described', /from/.test(await page.locator('#timeline [role=status]').innerText()));
  const frames = await page.evaluate(async () => {
    const { timeline } = window.page, times = [];
    const canvas = document.querySelector('#timeline canvas');
    for (let i = 0, last = performance.now(); i < 60; i++) {
      canvas.dispatchEvent(new KeyboardEvent('keydown', { key: i % 30 < 15 ? '+' : '-', bubbles: true }));
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times.sort((a, b) => a - b)[Math.floor(times.length * 0.5)];
  });
  page.frame = frames;
}

// A finding that is opened shows its part of the timeline, in which what it is about is bright; all of it is as wide as the page.
async function checkCutouts(page, name, advice) {
  const findings = page.locator('details.finding');
  for (let i = 0; i < Math.min(3, await findings.count()); i++) {
    const one = findings.nth(i), closed = await one.evaluate((it) => !it.open && it.checkVisibility());
    if (closed) await one.locator('summary').first().click();
  }
  await page.waitForTimeout(100);
  const bright = await page.locator('details.finding .cutout canvas:visible').evaluateAll((all) => all.map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size;
  }));
  expect(name + ': colours of cut-outs: ' + bright, bright.every((colors) => colors > 3));
  const shown = advice.findings.filter((finding) => !finding.hidden_by);
  const first = shown.find((finding) => finding.impact.method !== 'none' && !finding.impact.resource) || shown[0];
  if (first && !first.seen) expect(name + ': nothing to cut out', await findings.first().locator('.cutout').count() === 0);
  drawn.cutout += bright.length;
}

// Along an arrow: the chosen slice is its other end, and it is described.
async function checkArrows(page, name) {
  const ends = await page.evaluate(() => {
    const { view } = window.page?.timeline || {}, links = view?.slices.links;
    if (!links?.from.length) return null;
    const at = links.from.length >> 1;
    view.chosen = links.from[at];
    const firstOf = links.from.indexOf(view.chosen);
    document.querySelector('#timeline canvas').dispatchEvent(new KeyboardEvent('keydown', { key: 'f', bubbles: true }));
    return [view.chosen, links.to[firstOf]];
  });
  if (!ends) return;
  await page.waitForTimeout(60);
  expect(name + ': an arrow leads to ' + ends, ends[0] === ends[1]);
  expect(name + ': where it comes from', (await page.locator('#timeline [role=status]').innerText()).includes('set off by '));
}

// Every row that a chart is made of is in it: a cell a rank and step, a dot an op of known rate, the peak of memory.
async function checkCharts(page, name) {
  const of = await page.evaluate(() => Object.fromEntries(window.page.tables.map((table) =>
    [table.name, table.rows.map((row) => Object.fromEntries(table.columns.map((column, i) => [column.name, row[i]])))])));
  const steps = of.steps || [], hosts = new Set(steps.map((row) => row.host + ' ' + row.rank));
  if (hosts.size > 1 && new Set(steps.map((row) => row.number)).size > 1)
    expect(name + ': ' + steps.length + ' steps of ranks', await page.locator('#ranks rect').count() === steps.length);
  const rated = (of.roofline || []).filter((row) => row.intensity > 0 && row.flops_per_s > 0);
  expect(name + ': ' + rated.length + ' rated ops', await page.locator('#roofline circle').count() === (rated.length < 3 ? 0 : Math.min(400, rated.length)));
  const uses = of.memory_use || [], first = uses.filter((row) => row.allocator === uses[0].allocator && row.device === uses[0].device);
  if (first.length > 3 && Math.max(...first.map((row) => row.bytes)) * 100 >= Math.max(...uses.map((row) => row.bytes)))
    expect(name + ': memory over time', await page.locator('#memory path.area').count() > 0 && await page.locator('#memory circle').count() > 0);
  const stages = of.iterators || [];
  expect(name + ': ' + stages.length + ' input stages', await page.locator('#input tbody tr').count() === Math.min(60, stages.length));
  const types = await page.locator('#input .stage').allInnerTexts();
  expect(name + ': each stage by its type', types.sort().join() === stages.slice(0, 60).map((row) => row.type).sort().join());
  const waits = stages.filter((row) => row.path_ns > 0).length;
  expect(name + ': one bottleneck', await page.locator('#input .badge').count() === Math.min(1, waits));
  const sliders = page.locator('#whatif input[type=range]'), saved = () => page.locator('#whatif [aria-live]').first().innerText();
  if (await sliders.count()) {
    expect(name + ': as it is', (await saved()).startsWith('as it is'));
    await sliders.first().focus();
    await page.keyboard.press('End');
    expect(name + ': none of it saves: ' + await saved(), /^none of it: .* saves /.test(await saved()));
  }
  drawn.whatif += await sliders.count();
  drawn.input += await page.locator('#input').count();
  drawn.ranks += await page.locator('#ranks').count();
  drawn.roofline += await page.locator('#roofline').count();
  drawn.memory += await page.locator('#memory').count();
}

// The instruction with most time, and then the first that it needs: beside it stands what tfprof hlo says is around it.
async function checkProgram(page, name, profile) {
  const program = page.locator('#program');
  drawn.program += await program.count();
  if (!await program.count()) return;
  const sides = page.locator('#program .around > .side'), names = async (side) => (await sides.nth(side).locator('bdi')
    .evaluateAll((all) => all.map((one) => one.title))).sort();
  const module = await program.locator('p bdi').first().innerText();
  const hlo = (...words) => JSON.parse(execFileSync(tfprof, ['hlo', profile, '--module', module, ...words, '--format', 'json'],
    { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }));
  const all = hlo().instructions.map((one) => one.name);
  for (let turn = 0; turn < 2; turn++) {
    const [op] = await names(1);
    if (all.filter((one) => one === op).length > 1) break; // programs of one name have it both
    const answer = hlo('--op', op, '--depth', '1');
    const want = (distance) => answer.instructions.filter((one) => one.distance === distance).map((one) => one.name).sort();
    for (const [side, distance] of [[0, -1], [2, 1]])
      if (/ more/.test(await sides.nth(side).innerText())) { // those that the page does not hold are counted
        const left = Number(/(\d+) more/.exec(await sides.nth(side).innerText())[1]);
        expect(name + ': ' + op + ' has ' + left + ' more at ' + distance, (await names(side)).length + left === new Set(want(distance)).size);
      } else if (want(distance).length <= 7)
        expect(name + ': ' + op + ' and those at ' + distance + ': ' + await names(side), (await names(side)).join() === want(distance).join());
    if (!await sides.nth(0).locator('button').count()) break;
    await sides.nth(0).locator('button').first().click();
  }
}

// Names that try to be markup, in every place a recording has names.
function hostileTrace() {
  const names = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '<!--<script>', '{{7*7}}', '=cmd|A1',
    'a\u0000b', '\u202Egnp.exe', 'x'.repeat(5000), '😀', '"><svg onload=alert(1)>', '\ud800 lone'];
  const events = [];
  for (let step = 0; step < 8; step++) {
    events.push({ ph: 'X', cat: 'user_annotation', name: 'ProfilerStep#' + step, pid: 1, tid: 1, ts: step * 20000, dur: 19990 });
    names.forEach((name, i) => events.push({ ph: 'X', cat: 'cpu_op', name, pid: 1, tid: 1, ts: step * 20000 + 100 + i * 1500, dur: 1400,
      args: { 'Input Dims': [[2, 2]], 'Call stack': name } }));
  }
  events.push({ ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: names[0] } });
  return JSON.stringify({ schemaVersion: 1, traceEvents: events });
}

async function checkHostile(browser) {
  const trace = join(folder, 'hostile.json'), path = join(folder, 'hostile.html');
  writeFileSync(trace, hostileTrace());
  execFileSync(tfprof, ['report', trace, '-o', path]);
  const page = await open(browser, path);
  await page.waitForTimeout(300);
  expect('hostile: no element comes from a name', await page.locator('main img, main iframe, main script, main a[href]').count() === 0);
  expect('hostile: names are shown as text', await page.locator('#tables td', { hasText: '<img src=x onerror=alert(1)>' }).count() > 0);
  expect('hostile: a turned name is escaped', await page.locator('#tables td', { hasText: '\\u202egnp.exe' }).count() > 0);
  await checkAxe(page, 'hostile');
  await page.context().close();
}

// Two recordings side by side: bars as long as their steps, lists that open.
// A gate's result: its headline, its checks, and parts and pieces that sum to the change.
async function checkGate(browser, slow, fixed) {
  const baseline = join(folder, 'base.tfbase'), path = join(folder, 'gate.html');
  execFileSync(tfprof, ['baseline', fixed, '-o', baseline, '--config', 'none']);
  let gate = null;
  for (const form of ['json', 'html'])
    try {
      execFileSync(tfprof, ['gate', slow, '--baseline', baseline, '--config', 'none', '--format', form, '-o', path]);
    } catch (error) {
      expect('gate: status ' + error.status, error.status === 1 || error.status === 4);
    } finally {
      if (form === 'json') gate = JSON.parse(readFileSync(path, 'utf8'));
    }
  for (const options of [{}, { width: 375 }, { dark: true }]) {
    const page = await open(browser, path, options);
    expect('gate: headline', (await page.locator('h1').innerText()).replaceAll('\u00a0', ' ') === gate.headline);
    expect('gate: ' + gate.checks.length + ' checks', await page.locator('#checks tbody tr').count() === gate.checks.length);
    expect('gate: no section failed', await page.locator('.failed').count() === 0);
    if (gate.pieces.length)
      expect('gate: pieces', await page.locator('#pieces tbody tr').count() >= gate.pieces.length);
    await checkWidth(page, 'gate');
    await checkAxe(page, 'gate');
    await page.context().close();
  }
}

async function checkChange(browser, before, after) {
  const path = join(folder, 'change.html');
  execFileSync(tfprof, ['report', after, '--against', before, '-o', path]);
  const diff = JSON.parse(execFileSync(tfprof, ['diff', before, after, '--format=json'], { maxBuffer: 1 << 28 }));
  const want = diff.step.before_ns / diff.step.after_ns;
  for (const options of [{}, { dark: true }, { width: 400 }]) {
    const page = await open(browser, path, options), name = 'change ' + JSON.stringify(options);
    const [left, right] = await page.locator('#change .bar').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    expect(name + ': bars of ' + left + ' and ' + right + ' px', Math.abs(left / right / want - 1) < 0.02);
    expect(name + ': parts and their sum', await page.locator('#change .parts').first().locator('tbody tr').count() === diff.parts.length + 1);
    for (const summary of await page.locator('#change summary').all()) await summary.click();
    expect(name + ': the largest change stands first', (await page.locator('#change details td bdi').first().innerText()) === diff.type[0].name);
    await checkWidth(page, name);
    await checkAxe(page, name);
    await page.context().close();
  }
}

// 20 steps of 2000 short ops that stand side by side, and one long op: more than a page of 1000 slices has.
function longTrace() {
  const events = [];
  for (let step = 0; step < 20; step++) {
    events.push({ ph: 'X', cat: 'user_annotation', name: 'ProfilerStep#' + step, pid: 1, tid: 1, ts: step * 12000, dur: 11000 });
    for (let i = 0; i < 2000; i++)
      events.push({ ph: 'X', cat: 'cpu_op', name: 'aten::op' + i, pid: 1, tid: 1, ts: step * 12000 + 5 * i + 1, dur: i % 3 + 1 });
  }
  return JSON.stringify({ schemaVersion: 1, traceEvents: events });
}

// Within ten seconds; waitForFunction is more than the page's policy lets in.
async function until(page, condition) {
  for (let i = 0; i < 100; i++) {
    if (await page.evaluate(condition)) return true;
    await page.waitForTimeout(100);
  }
  return false;
}

// A served page asks for what it does not hold: slices that are zoomed into, and the rest of a table.
async function checkServed(browser) {
  const runs = join(folder, 'runs');
  mkdirSync(runs);
  writeFileSync(join(runs, 'long.json'), longTrace());
  const server = spawn(tfprof, ['serve', runs, '--port=0', '--slices=1000', '--rows=50']);
  const port = /:(\d+)\/ /.exec(await new Promise((said) => server.stdout.once('data', (bytes) => said(String(bytes)))))[1];
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } }), page = await context.newPage();
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) failures.push('served: ' + message.text()); });
  page.on('pageerror', (error) => failures.push('served: ' + error.message));
  await page.goto('http://127.0.0.1:' + port + '/report?run=long.json');
  await page.locator('html[data-ready]').waitFor({ state: 'attached', timeout: 20000 });
  const held = await page.evaluate(() => window.page.timeline.view.whole.about);
  expect('served: ' + held.summed + ' slices stand together', held.summed > 30000);
  // Step 7 from its beginning on, 100 microseconds: op 0 to op 19 of it begin there, each after 5.
  await page.evaluate((from) => window.page.timeline.go(from, from + 100000), 7 * 12000000);
  expect('served: slices arrive', await until(page, () => window.page.timeline.view.slices !== window.page.timeline.view.whole));
  const inside = await page.evaluate((from) => {
    const { slices } = window.page.timeline.view, row = slices.rows[1], names = [];
    for (let i = row.first; i < row.first + row.count; i++)
      if (slices.starts[i] >= from && slices.starts[i] < from + 100000) names.push(slices.names[slices.ids[i]].text + ' ' + slices.durations[i]);
    return names.join();
  }, 7 * 12000000);
  expect('served: all ops of the span: ' + inside,
    inside === Array.from({ length: 20 }, (_, i) => 'aten::op' + i + ' ' + (i % 3 + 1) * 1000).join());
  await page.locator('#timeline canvas').focus();
  await page.keyboard.press('0');
  expect('served: all of it again', await until(page, () => window.page.timeline.view.slices === window.page.timeline.view.whole));
  const more = page.locator('#tables button', { hasText: 'load all 2000 rows' });
  expect('served: 50 of 2000 rows', (await page.locator('#tables [role=status]').innerText()).startsWith('50 of 2000'));
  await more.click();
  await more.waitFor({ state: 'detached', timeout: 20000 });
  expect('served: 2000 of 2000 rows', (await page.locator('#tables [role=status]').innerText()).startsWith('2000 of 2000'));
  await checkAxe(page, 'served');
  await context.close();
  server.kill();
}

// On paper: findings are open, what one works with is not there, and no sheet is empty because of rows that are not drawn.
async function checkPrinted(browser, path) {
  const page = await open(browser, path);
  const sheets = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g).length;
  expect('printed: ' + sheets + ' sheets', sheets <= 8);
  await page.emulateMedia({ media: 'print' });
  expect('printed: nothing to press', await page.locator('button:visible, select:visible, input:visible').count() <= await page.locator('#program button, th button').count());
  await page.context().close();
}

// Of summaries of ranks: a column each, and who works longest: 80 ms x 1.25 and 5 ms.
async function checkJob(browser) {
  const sketch = join(folder, 'ranks.job'), job = join(folder, 'job.ranks'), path = join(folder, 'job.html');
  writeFileSync(sketch, 'job 16\nstages 2\nslow_rank 3 25%\n');
  execFileSync(tfprof, ['synth', sketch, '-o', job]);
  execFileSync(tfprof, ['report', job, '-o', path]);
  const page = await open(browser, path);
  expect('job: a column a rank', await page.locator('#rank-bars rect').count() === 16 * 3);
  expect('job: who works longest', (await page.locator('#rank-bars p').innerText()).includes('rank 3 works longest, 105 ms a step'));
  await checkWidth(page, 'job');
  await checkAxe(page, 'job');
  await page.context().close();
}

// A page that someone changed does not run, and says so.
async function checkChanged(browser, path) {
  const changed = join(folder, 'changed.html');
  writeFileSync(changed, readFileSync(path, 'utf8').replace("'use strict';", "'use strict' ;"));
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  await page.goto('file://' + changed);
  await page.waitForTimeout(300);
  expect('changed: nothing runs', await page.evaluate(() => document.documentElement.dataset.ready) === undefined);
  expect('changed: the page says why', (await page.locator('main').innerText()).startsWith('This page could not start'));
  await context.close();
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
let first = null;
for (const profile of profiles) {
  const name = basename(dirname(profile)) + '/' + basename(profile), path = join(folder, name.replaceAll('/', '-') + '.html');
  try {
    execFileSync(tfprof, ['report', profile, '-o', path]);
  } catch (error) { // a recording that no command reads
    expect(name + ': status ' + error.status, error.status === 3);
    console.log(name + ': cannot be read');
    continue;
  }
  const advice = JSON.parse(execFileSync(tfprof, ['advise', profile, '--format=json'], { maxBuffer: 1 << 28 }));
  expect(name + ': at most 3 MB', statSync(path).size <= 3e6);
  const page = await open(browser, path);
  await checkWords(page, name, advice);
  await checkWidth(page, name);
  await checkTable(page, name);
  await checkTimeline(page, name);
  await checkArrows(page, name);
  await checkCutouts(page, name, advice);
  await checkCharts(page, name);
  await checkProgram(page, name, profile);
  await checkAxe(page, name);
  await page.setViewportSize({ width: 400, height: 900 });
  await page.waitForTimeout(60);
  await checkWidth(page, name + ', narrow');
  console.log(name + ': ' + Math.round(statSync(path).size / 1000) + ' kB, ready in ' + page.loadedIn + ' ms, ' +
    (page.frame ? 'a frame in ' + page.frame.toFixed(1) + ' ms' : 'no timeline'));
  await page.context().close();
  if (first === null) {
    first = path;
    await checkChanged(browser, path);
    await checkPrinted(browser, path);
    for (const options of [{}, { dark: true }, { width: 400 }]) {
      const other = await open(browser, path, options);
      await checkWidth(other, name + ' ' + JSON.stringify(options));
      await checkAxe(other, name + ' ' + JSON.stringify(options));
      await other.context().close();
    }
  }
}
if (process.env.PAIR) {
  if (profiles.length > 5)
    for (const [chart, count] of Object.entries(drawn)) expect('some recording has the chart ' + chart, count > 0);
  await checkChange(browser, join(process.env.PAIR, 'slow'), join(process.env.PAIR, 'fixed'));
  await checkGate(browser, join(process.env.PAIR, 'slow'), join(process.env.PAIR, 'fixed'));
  await checkHostile(browser);
  await checkServed(browser);
  await checkJob(browser);
}
await browser.close();
rmSync(folder, { recursive: true });
for (const failure of failures) console.log('FAILED ' + failure);
console.log(checks + ' checks of ' + profiles.length + ' pages, ' + failures.length + ' failures');
process.exit(failures.length ? 1 : 0);
