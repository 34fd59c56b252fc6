// @vitest-environment node
import { expect, it } from 'vitest';
import { diffCounts, diffLines } from './diff';

const diff = `--- a
+++ b
@@ -3,3 +3,4 @@
   "tools": {
-    "x": {}
+    "x": { "action": "deny" },
+    "+y": {}
   }
\\ No newline at end of file
`;

it('lines keep their text and get their numbers', () => {
  expect(diffLines(diff).map((line) => [line.kind, line.old, line.new, line.text])).toEqual([
    ['place', null, null, 'line 3'],
    ['same', 3, 3, '  "tools": {'],
    ['removed', 4, null, '    "x": {}'],
    ['added', null, 4, '    "x": { "action": "deny" },'],
    ['added', null, 5, '    "+y": {}'],
    ['same', 5, 6, '  }'],
  ]);
  expect(diffCounts(diffLines(diff))).toEqual({ added: 2, removed: 1 });
});

it('what is no diff has no lines', () => {
  expect(diffLines('')).toEqual([]);
  expect(diffLines('--- a\n+++ b\n')).toEqual([]);
});

it('a removed line that begins with dashes is not taken for a file name', () => {
  expect(diffLines('@@ -1 +1 @@\n--- x\n+++ y').map((line) => line.text)).toEqual(['line 1', '-- x', '++ y']);
});
