// How many rows a page's statement asks for. The number stands in its text: plans are generic (db/session-settings.ts), and with a parameter
// for the limit the planner expects a tenth of the table, and sorts all of it.
// One more than the usual limits, which tells whether there is more. Each size is a statement of its own, which every connection keeps.
const SIZES = [21, 101, 201, 501]

/** `wanted` or the next larger size. The caller leaves out what is too much. */
export const pageSize = (wanted: number): number => SIZES.find((size) => size >= wanted) ?? wanted
