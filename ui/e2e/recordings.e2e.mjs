// Component tests hear what the real desk once said (`bridge/record.mjs`): asked again, it still answers in this shape.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { record } from '../bridge/record.mjs';

/** Which kind of value is where, whatever the value: `clients.ok[].files[].path string`. */
function shape(value, at = '', found = new Set()) {
  const inside = value !== null && typeof value === 'object';
  if (!inside) found.add(`${at} ${value === null ? 'null' : typeof value}`);
  else if (Array.isArray(value)) for (const one of value) shape(one, `${at}[]`, found);
  else for (const [name, one] of Object.entries(value)) shape(one, `${at}.${name}`, found);
  return found;
}

async function compare(name) {
  const recorded = JSON.parse(readFileSync(new URL(`../src/testing/recordings/${name}.json`, import.meta.url), 'utf8'));
  const [then, now] = [shape(recorded), shape(await record(name))];
  const only = (one, other) => [...one].filter((line) => !other.has(line));
  const found = { gone: only(then, now), new: only(now, then) };
  assert.deepEqual(found, { gone: [], new: [] }, 'the desk answers otherwise: run `node bridge/record.mjs`');
}

export const checks = () => ({
  'recorded answers of a used home have the shape of the real ones': () => compare('used'),
  'recorded answers of a first start have the shape of the real ones': () => compare('first'),
});
