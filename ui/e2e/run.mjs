// The built window in Chromium: every section in both themes and two sizes without a serious accessibility finding, and the
// promises of the log by mouse and by keyboard. Each check is a function of an open page; a failure names it and goes on.
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { start } from './browser.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const only = process.argv.slice(2);
const queue = [];
for (const file of readdirSync(here)
  .filter((name) => name.endsWith('.e2e.mjs'))
  .sort()) {
  const { checks } = await import(pathToFileURL(here + file).href);
  for (const one of Object.entries(await checks()))
    if (only.length === 0 || only.some((part) => one[0].includes(part))) queue.push(one);
}
const env = await start();
let [passed, failed] = [0, 0];
/** One check after another, until there are no more. Each is tried once: a check that fails now and then is wrong. */
async function lane() {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [name, check] = next;
    const began = Date.now();
    try {
      await check(env);
      passed += 1;
      console.log(`ok    ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed += 1;
      console.log(
        `FAIL  ${name} (${Date.now() - began} ms)\n      ${String(error?.stack ?? error).replaceAll('\n', '\n      ')}`,
      );
    }
  }
}
// A page keeps two processors busy: its own process, and the browser's with ours.
const lanes = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
try {
  await Promise.all(Array.from({ length: lanes }, lane));
} finally {
  await env.stop();
}
// As cargo's own runner says it: `cargo xtask` counts by this line.
console.log(`test result: ${failed > 0 ? 'FAILED' : 'ok'}. ${passed} passed; ${failed} failed; 0 ignored`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
