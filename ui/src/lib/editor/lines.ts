// Line ends. CodeMirror counts each line end as one character and would write all of them as LF; a policy file keeps the
// line ends that it has, and the backend counts them as they are.

export interface LineEnds {
  /** The text as the editor holds it, as the file has it. */
  toFile(text: string): string;
  /** An offset in the file's text, as an offset in the editor's. */
  toEditor(offset: number, file: string): number;
  /** And back; `text` is the editor's. */
  fromEditor(offset: number, text: string): number;
}

const plain: LineEnds = { toFile: (text) => text, toEditor: (offset) => offset, fromEditor: (offset) => offset };

const windows: LineEnds = {
  toFile: (text) => text.replaceAll('\n', '\r\n'),
  toEditor: (offset, file) => offset - count(file.slice(0, offset), '\r'),
  fromEditor: (offset, text) => offset + count(text.slice(0, offset), '\n'),
};

/** Those of a text: CR LF only if every line ends so. */
export function lineEnds(text: string): LineEnds {
  const all = count(text, '\n');
  return all > 0 && count(text, '\r\n') === all && count(text, '\r') === all ? windows : plain;
}

function count(text: string, what: string): number {
  return text.split(what).length - 1;
}
