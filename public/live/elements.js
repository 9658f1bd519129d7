// What the pages' scripts ask of the page.
export const $ = (id) => document.getElementById(id)

/** Whether a key is not for the page: it goes to a field or an open dialog, or comes with another key. */
export const isTyping = ({ ctrlKey, metaKey, altKey, target }) =>
  ctrlKey || metaKey || altKey || target.closest?.('input, textarea, select') || document.querySelector('dialog[open]')
