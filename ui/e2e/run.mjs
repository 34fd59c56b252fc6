// The built window in Chromium: every section in both themes and two sizes without a serious accessibility finding, and the
// promises of the log by mouse and by keyboard. Each check is a function of an open page; a failure names it and goes on.
import { readdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { start } from './browser.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const only = process.argv.slice(2);
const env = await start();
let failed = 0;
let passed = 0;
try {
  for (const file of readdirSync(here)
    .filter((name) => name.endsWith('.e2e.mjs'))
    .sort()) {
    const { checks } = await import(pathToFileURL(here + file).href);
    for (const [name, check] of Object.entries(await checks())) {
      if (only.length > 0 && !only.some((part) => name.includes(part))) continue;
      const began = Date.now();
      try {
        await check(env);
        passed += 1;
        console.log(`ok    ${name} (${Date.now() - began} ms)`);
      } catch (error) {
        failed += 1;
        console.log(`FAIL  ${name}\n      ${String(error?.stack ?? error).replaceAll('\n', '\n      ')}`);
      }
    }
  }
} finally {
  await env.stop();
}
// As cargo's own runner says it: `cargo xtask` counts by this line.
console.log(`test result: ${failed > 0 ? 'FAILED' : 'ok'}. ${passed} passed; ${failed} failed; 0 ignored`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
