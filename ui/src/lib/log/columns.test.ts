import { beforeEach, expect, it } from 'vitest';
import { Columns, roomFor, shownIn, type Room } from './columns.svelte';
import { call } from '../../testing/lines';

beforeEach(() => localStorage.clear());

const perLetter = (text: string) => text.length * 10;
const asIs = (name: string) => name;
const tracks = (columns: Columns, room: Room) => columns.template(room).match(/minmax\([^)]*\)|\S+/g) ?? [];

it('a long name takes what it needs before arguments take the rest, and no more than a bound', () => {
  const columns = new Columns(perLetter);
  expect(tracks(columns, 'all')[3]).toBe('120px');
  columns.see([call(1, { tool: 'clear_codegen_session' })], asIs);
  expect(tracks(columns, 'all').slice(3, 5)).toEqual(['minmax(120px, 244px)', 'minmax(260px, 1fr)']);
  // A shorter one takes nothing back; a hostile one does not push everything else out.
  columns.see([call(2, { tool: 'get' }), call(3, { tool: 'x'.repeat(5_000) })], asIs);
  expect(tracks(columns, 'all')[3]).toBe('minmax(120px, 480px)');
});

it('what was dragged is kept on this machine, and given back by a double click', () => {
  const columns = new Columns(perLetter);
  columns.drag('client', 300.4);
  columns.drag('decision', 5);
  columns.keep();
  expect(tracks(columns, 'all')[1]).toBe('minmax(112px, 300px)');
  expect(tracks(columns, 'all')[5], 'wide enough to be dragged again').toBe('minmax(48px, 48px)');
  const again = new Columns(perLetter);
  expect(again.template('all')).toBe(columns.template('all'));
  again.release('client');
  expect(tracks(new Columns(perLetter), 'all')[1]).toBe('112px');
});

it.each(['{', '[]', 'null', '{"client":"wide","nobody":3,"tool":1e9}'])('what is kept as %s does no harm', (text) => {
  localStorage.setItem('callgate.log.columns', text);
  const columns = new Columns(perLetter);
  expect(tracks(columns, 'all')).toHaveLength(8);
  expect(tracks(columns, 'all')[1]).toBe('112px');
});

it('who called is shown in every room', () => {
  for (const width of [300, 600, 900, 1400]) expect(shownIn[roomFor(width)]).toContain('client');
});
