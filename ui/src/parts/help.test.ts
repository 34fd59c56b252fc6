// @vitest-environment node
// Window, command line and documentation use the same words.
import { describe, expect, it } from 'vitest';
import wordsFile from '../../../docs/words.md?raw';
import { protections } from '../sections/servers/words';
import { scopes, states, stateWords } from '../sections/rules/draft';
import { stateWords as entryWords } from '../lib/clients/entries';
import { decisionWords } from '../lib/words';
import { wants, words } from './help';

/** The cells of each row below this heading. */
function rows(heading: string): string[][] {
  const part = wordsFile.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return part
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/[`*]/g, '')),
    );
}

describe('docs/words.md', () => {
  it('has the table of the help, row by row', () => {
    expect(rows('I want to…')).toEqual(wants.map(({ want, use, command }) => [want, use, command ?? '']));
    expect(wants.length).toBeGreaterThan(10);
  });

  it('has every word that the help explains', () => {
    const bold = [...wordsFile.matchAll(/\*\*(.+?)\*\*/g)].map((found) => found[1]?.toLowerCase());
    for (const { word } of words) expect(bold, word).toContain(word.toLowerCase());
  });

  it('has the decisions as the log shows them', () => {
    const named = rows('What is decided about a call').map(([word, , record]) => [record, word]);
    for (const [decision, word] of Object.entries(decisionWords))
      expect(named, decision).toContainEqual([decision, word.toLowerCase()]);
  });

  it('has the states of tools, the ways of protection and the scopes as the window shows them', () => {
    expect(rows('What rules make of a tool').map(([word]) => word)).toEqual(states.map((state) => stateWords[state]));
    expect(rows('How a server is protected').map(([word]) => word)).toEqual(
      Object.values(protections).map(({ word }) => word),
    );
    expect(rows('How an entry stands').map(([word]) => word)).toEqual(Object.values(entryWords));
    const scopeRows = rows('Who is counted together').map(([word, scope]) => ({ scope, words: word }));
    expect(scopeRows).toHaveLength(scopes.length);
    for (const one of scopes) expect(scopeRows).toContainEqual(one);
  });
});
