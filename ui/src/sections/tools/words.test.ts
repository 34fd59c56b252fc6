// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { ToolRow } from '../../lib/backend';
import { finds, mark, stateOf } from './words';

const row: ToolRow = {
  server: 'play',
  name: 'end_codegen_session',
  about: 'End a session and generate the test file',
  class: 'Write',
  severity: 'Medium',
  confidence: 'high',
  corrected: false,
  findings: 0,
  state: 'cap',
  words: 'at most 30 calls per minute',
  calls: 0,
  refused: 0,
  lastCallMs: null,
};

describe('tools', () => {
  it('are found by name, server, class, severity, state and description, all words together', () => {
    for (const typed of ['', 'codegen', 'PLAY end', 'write', 'medium limited', 'test file'])
      expect(finds(row, typed), typed).toBe(true);
    for (const typed of ['read', 'play critical', 'denied']) expect(finds(row, typed), typed).toBe(false);
  });

  it('say what is behind a class that is not told by the definition alone', () => {
    expect(mark(row)).toBeNull();
    expect(mark({ ...row, confidence: 'low' })).toBe('a guess');
    expect(mark({ ...row, confidence: 'low', corrected: true })).toBe('as you say');
    expect(mark({ ...row, corrected: true, findings: 1 })).toBe('look at it');
    expect(stateOf({ ...row, state: null })).toBe('policy broken');
  });
});
