// What people get: the built page holds nothing of what only development and tests need.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = (folder) => readdirSync(root + folder, { recursive: true }).map((name) => `${folder}/${name}`);
const read = (names) => names.map((name) => readFileSync(root + name, 'utf8')).join('\n');
const forTests = (name) => /^bridge\/|\/testing\//.test(name);

/** The texts in quotes that tell where code came from. */
const texts = (source) => new Set(source.match(/'[^'\\\n]{16,}'|"[^"\\\n]{16,}"/g)?.map((text) => text.slice(1, -1)));

/** Those of development and tests that are in the page. */
function strangers(page) {
  const sources = [...files('src'), ...files('bridge')].filter((name) => /\.(ts|svelte|m?js|json)$/.test(name));
  const own = read(sources.filter((name) => !forTests(name)));
  return [...texts(read(sources.filter(forTests)))].filter((text) => page.includes(text) && !own.includes(text));
}

export const checks = () => ({
  'the built page holds nothing of bridge, worlds and tests': () => {
    const page = read(files('dist').filter((name) => /\.(js|html)$/.test(name)));
    assert.deepEqual(strangers(page), []);
    assert.ok(!/host\.js|bridge/.test(readFileSync(`${root}dist/index.html`, 'utf8')));
    assert.ok(strangers(`${page} a password of the test`).length > 0, 'what is in it is found');
  },
});
