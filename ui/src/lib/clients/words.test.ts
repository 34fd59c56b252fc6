// @vitest-environment node
import { expect, it } from 'vitest';
import type { ClientChange, ClientView } from '../backend';
import rows from '../../../../crates/clients/src/table/rows.rs?raw';
import {
  doneWords,
  listed,
  nextSteps,
  quoted,
  refusedWords,
  takesUpByItself,
  tallyWords,
  testWords,
  waitingWords,
} from './words';

it('lists a few names and counts the rest', () => {
  for (const [names, want] of [
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a and b'],
    [['a', 'b', 'c'], 'a, b and c'],
    [['a', 'b', 'c', 'd', 'e'], 'a, b and 3 more'],
  ] as const)
    expect(listed(names)).toBe(want);
});

it('says what was done, what waits and what was refused, each with its client', () => {
  const views = [{ id: 'claude-desktop', name: 'Claude Desktop' }] as ClientView[];
  const key = (client: string, name: string) => ({ client, path: '', project: null, name });
  const change: ClientChange = {
    act: 'protect',
    done: [key('claude-desktop', 'files'), key('claude-desktop', 'github'), key('gone', 'x')],
    waiting: [key('claude-desktop', 'notes')],
    refused: [],
    left: [],
  };
  expect(doneWords(views, change)).toBe('Protected “files” and “github” in Claude Desktop; “x” in gone.');
  expect(waitingWords(views, change)).toBe('To be protected when Claude Desktop has quit: “notes”.');
  expect(doneWords(views, { ...change, act: 'unprotect' })).toMatch(/^Unprotected “files”/);
  expect(refusedWords({ clientName: 'Zed', name: null, why: 'it is not JSON' })).toBe('Zed: it is not JSON');
  expect(refusedWords({ clientName: 'Zed', name: 'x', why: 'no' })).toBe('“x” in Zed: no');
});

it('a test says who answered and how many tools it has, as far as known', () => {
  expect(testWords({ says: 'playwright 1.2.3', tools: 21, problem: null })).toBe('answers: playwright 1.2.3, 21 tools');
  expect(testWords({ says: null, tools: 1, problem: null })).toBe('answers: 1 tool');
  expect(testWords({ says: null, tools: null, problem: null })).toBe('answers');
});

it('sums up without naming what there is none of', () => {
  expect(tallyWords({ clients: 1, servers: 3, protected: 2, open: 0, notCoverable: 1 })).toBe(
    '1 client, 3 servers: 2 protected, 1 not coverable',
  );
  expect(tallyWords({ clients: 1, servers: 0, protected: 0, open: 0, notCoverable: 0 })).toBe('1 client, 0 servers');
});

it('a server named everything is not read as the word', () => {
  expect(quoted(['everything', 'files', 'everything'])).toBe('“everything” and “files”');
});

it('knows a client that watches its file by the words of the table of clients', () => {
  const said = [...rows.matchAll(/"(Nothing to do[^"]*)"/g)].map(([, words]) => words!);
  expect(said.length).toBeGreaterThan(0);
  for (const reload of said) expect(takesUpByItself({ reload } as ClientView), reload).toBe(true);
  expect(takesUpByItself({ reload: 'Quit and restart Cursor.' } as ClientView)).toBe(false);
});

it('says once per client what to do next; one that does not run has only to be started', () => {
  const views = [
    { id: 'cursor', name: 'Cursor', running: true, reload: 'Restart it.' },
    { id: 'zed', name: 'Zed', running: false, reload: 'Restart it.' },
  ] as ClientView[];
  expect(nextSteps(views, ['cursor', 'cursor', 'zed', 'gone'])).toEqual([
    'Cursor: Restart it.',
    'Zed: It counts from its next start on.',
  ]);
});
