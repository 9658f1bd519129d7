// Asks whoever has typed something into a page before a script leads from it to another one.
const TEXTS = 'main :is(textarea, input:not([type=radio], [type=checkbox]))'
const isTyped = ({ value, defaultValue }) => value !== defaultValue

/** `what`: what is on the other page, as `The document is`. */
export const mayLeaveFor = (what) =>
  ![...document.querySelectorAll(TEXTS)].some(isTyped) ||
  confirm(`${what} on another page, and what you have typed here is not. Go there without it?`)
