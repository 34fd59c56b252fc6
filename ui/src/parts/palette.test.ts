// @vitest-environment node
import { expect, it } from 'vitest';
import { fit, found, verbsIn, type Line } from './palette';

const line = (group: Line['group'], words: string, also?: string): Line => ({
  id: words,
  group,
  words,
  hint: '',
  also,
  run: () => undefined,
});
const lines = [
  line('Tool', 'write_file', 'files'),
  line('Tool', 'browser_file_upload', 'playwright'),
  line('Go to', 'Rules'),
  line('Server', 'files'),
  line('Do', 'Pause all', 'stop everything'),
  line('Filter', 'Refused calls'),
];
const words = (typed: string) => found(lines, typed).map((one) => one.words);

it('shows places and acts before anything is typed, and no thousand tools', () => {
  expect(words('')).toEqual(['Rules', 'Pause all', 'files', 'Refused calls']);
});

it('the start of a line comes first, then the start of a word', () => {
  expect(words('file')).toEqual(['files', 'write_file', 'browser_file_upload']);
});

it('every word has to fit, in any order', () => {
  expect(words('playwright file')).toEqual(['browser_file_upload']);
  expect(words('file nowhere')).toEqual([]);
});

it('other words for the same thing are found', () => {
  expect(words('stop')[0]).toBe('Pause all');
});

it('letters in order are the last resort', () => {
  expect(fit(lines[0]!, 'wrfl')).toBe(1);
  expect(fit(lines[0]!, 'xq')).toBeNull();
});

it('a verb and part of a name is an act on that tool', () => {
  expect(verbsIn('block send')).toEqual(['Block']);
  expect(verbsIn('send')).toEqual([]);
  const acts = [line('Act', 'Block send_email', 'tickets'), line('Tool', 'send_email', 'tickets'), ...lines];
  acts.push(line('Act', 'Block list_entries_and_so_on', 'tickets'));
  expect(found(acts, 'block sen').map((one) => one.words)).toEqual(['Block send_email']);
});
