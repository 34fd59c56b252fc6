// Styles go into one file and never into the page: the window's CSP allows no inline style.
export default { compilerOptions: { css: 'external', runes: true } };
