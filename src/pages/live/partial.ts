export type Swap = 'beforeend' | 'afterbegin' | 'innerHTML' | 'outerHTML' | 'outerMorph' | 'delete'

/** Markup with the place that it goes to, for htmx. An agent's text cannot begin such an element: it is escaped within `html`. */
export const partial = (target: string, swap: Swap, html: string) =>
  `<hx-partial hx-target="${target}" hx-swap="${swap}">${html}</hx-partial>`
