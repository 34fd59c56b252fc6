// @vitest-environment node
import { expect, it } from 'vitest';
import { wiring } from './wiring';

it('what is copied is JSON that starts the same server behind the gate', () => {
  const { before, after } = wiring('C:\\Users\\Ada\\.callgate\\bin\\callgate.exe');
  const was = JSON.parse(`{${before}}`).playwright;
  const is = JSON.parse(`{${after}}`).playwright;
  expect(is.command).toBe('C:\\Users\\Ada\\.callgate\\bin\\callgate.exe');
  expect(is.args.slice(0, 4)).toEqual(['run', '--server', 'playwright', '--']);
  expect(wiring('/home/ada/.local/bin/callgate').protect).toBe('/home/ada/.local/bin/callgate clients protect --all');
  expect(wiring('C:\\My Apps\\callgate.exe').protect).toBe('"C:\\My Apps\\callgate.exe" clients protect --all');
  expect(is.args.slice(4)).toEqual([was.command, ...was.args]);
});
